// SPDX-License-Identifier: Apache-2.0
'use strict';
const main = document.getElementById('main');
const PERIOD_MS = 2000, MOST_LINES = 20000, TEXT_STAGES = ['ttir', 'ttgir', 'llir', 'asm', 'disassembly'];
let token = '', filter = '', search = '', shown = {}, timer = 0, view = 0, recent = [], addresses = [];
