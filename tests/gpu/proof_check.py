# SPDX-License-Identifier: Apache-2.0
"""Half a minute: do the bundle, the package and a kernel work on this machine at all?"""
import sys

import machine

CODE = """
import json, dataclasses, torch, triton, triton.language as tl, tritond
@triton.jit
def twice(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
x = torch.arange(1000, device="cuda", dtype=torch.float32)
twice[(8,)](x, 1000, BLOCK=128)
import tritond._device
print(json.dumps({"right": bool((x == torch.arange(1000, device="cuda") * 2).all()), "status": dataclasses.asdict(tritond.status()),
                  "device": tritond._device.identify("cuda", 0)}))
"""


def main():
    program = machine.WORK / "check.py"
    program.write_text(CODE)
    with machine.Daemon("check-daemon") as daemon:
        done = machine.run([sys.executable, program], machine.environment(
            machine.fresh("check-cache"), daemon.address, TRITOND_ON_FAILURE="error"), machine.WORK / "check.log", 120)
        counts = daemon.counts()
    imports = machine.run([sys.executable, "-c", "import liger_kernel.transformers.functional, fla.ops.gla, einops; print('{}')"],
                          machine.environment(machine.fresh("check-cache-2")), machine.WORK / "check-imports.log", 120)
    machine.report("check", {"kernel": done, "daemon": counts, "imports": imports, "ptxas": machine.cuda_home()})


if __name__ == "__main__":
    main()
