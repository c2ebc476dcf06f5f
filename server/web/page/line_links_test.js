// SPDX-License-Identifier: Apache-2.0
const lines = text => text.replace(/^\n/, '').split('\n');

test('an operation has the place that its location names', () => {
  const places = placesOf('ttgir', lines(`
#loc = loc("/src/k.py":3:0)
#loc2 = loc("/src/k.py":7:12)
#loc5 = loc("x"(#loc2))
  %0 = tt.load %p : tensor<4x!tt.ptr<f32>> loc(#loc2)
  %1 = tt.load %p : tensor<4x!tt.ptr<f32>> loc(#loc5)
  %2 = arith.addf %0, %1 loc("other.py":1:2)
  }) : (f32) -> f32 loc(#loc9)
  "tt.return"() loc(unknown)`), false);
  equal(places.slice(3), [['k.py:7'], ['k.py:7'], ['other.py:1'], [], []]);
  equal(places.slice(0, 3), [[], [], []]);  // A definition is no operation.
});
test('of a call the callee counts, of fused locations all', () => {
  const places = placesOf('ttir', lines(`
#loc1 = loc("k.py":7:12)
#loc2 = loc("k.py":40:1)
#loc3 = loc(callsite(#loc1 at #loc2))
  %0 = a.b loc(#loc3)
  %1 = a.b loc(callsite(callsite("in.py":1:1 at #loc1) at #loc2))
  %2 = a.b loc(fused[#loc1, "k.py":9:9])`), false);
  equal(places.slice(3), [['k.py:7'], ['in.py:1'], ['k.py:7', 'k.py:9']]);
});
test('an operation with regions begins with its first one', () => {
  const places = placesOf('ttgir', lines(`
  %1 = "tt.reduce"(%0) ({
  ^bb0(%a: f32 loc("k.py":8:1), %b: f32 loc("k.py":8:2)):
    %2 = arith.addf %a, %b loc("k.py":9:1)
  }) : (f32) -> f32 loc("k.py":7:1)
  scf.if %c {
    %3 = a.b loc("k.py":11:1)
  } else {
    %4 = a.b loc("k.py":12:1)
  } loc("k.py":10:1)
  scf.yield loc("k.py":13:1)`), false);
  equal(places, [['k.py:7'], ['k.py:8'], ['k.py:9'], ['k.py:7'], ['k.py:10'], ['k.py:11'], [], ['k.py:12'], ['k.py:10'], ['k.py:13']]);
});
test('a location that names itself ends', () => equal(placesOf('ttir', ['#loc1 = loc(#loc1)', ' a loc(#loc1)'], false)[1], []));
test('a parenthesis in a file name ends nothing', () => {
  equal(placesOf('ttir', [' a loc("we(ird(.py":4:2)'], false), [['we(ird(.py:4']]);
});
test('an input without locations is a place itself', () => {
  equal(placesOf('ttir', ['module {', '}'], true), [['tritond-ir:1'], ['tritond-ir:2']]);
  equal(placesOf('ttir', ['module {', '}'], false), [[], []]);
  equal(placesOf('ttir', ['module {', ' a loc("k.py":2:1)'], true), [[], ['k.py:2']]);
});
test('a debug location leads to its file', () => {
  equal(placesOf('llir', lines(`
  %1 = load i32, ptr %0, align 4, !dbg !10
  br label %2, !dbg !12
  store i32 %1, ptr %0
  ret void, !dbg !13
!1 = !DIFile(filename: "k.py", directory: "/src")
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 2)
!5 = !DILexicalBlockFile(scope: !4, discriminator: 0)
!10 = !DILocation(line: 7, column: 12, scope: !4)
!12 = distinct !DILocation(line: 9, column: 1, scope: !5, inlinedAt: !10)
!13 = !DILocation(line: 0, scope: !4)`), false).slice(0, 4), [['k.py:7'], ['k.py:9'], [], []]);
});
test('.loc holds up to the next one', () => {
  equal(placesOf('asm', lines(`
.visible .entry k(
	.loc	1 7 12
	mov.u32 %r1, 1;
$L__tmp0:
	add.s32 %r2, %r1, 1;
	.loc	1 0 0
	ret;
	.loc	2 4 1, function_name $L__info_string0, inlined_at 1 9 3
	bar.sync 0;
	.section .debug
	.b8 1;
	.file	1 "/src" "k.py"
	.file	2 "in.py"`), false).slice(0, 11),
  [[], ['k.py:7'], ['k.py:7'], [], ['k.py:7'], [], [], ['in.py:4'], ['in.py:4'], [], []]);
});
test('of the comments before an instruction the first is the innermost', () => {
  equal(placesOf('disassembly', lines(`
	.section	.text.k
	//## File "/src/k.py", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   NOP ;
	//## File "in.py", line 3 inlined at "k.py", line 9
	//## File "k.py", line 9
        /*0020*/                   EXIT ;`), false), [[], ['k.py:7'], ['k.py:7'], ['k.py:7'], ['in.py:3'], ['in.py:3'], ['in.py:3']]);
});
test('the file that most places name comes first', () => equal(filesOf([[['b:1'], ['a:1', 'a:2']], [[], ['a:7']]]), ['a', 'b']));
