# SPDX-License-Identifier: Apache-2.0
"""What tritond.pth imports at the interpreter's start, when TRITOND_SERVER or TRITOND_RECORD is set."""
from tritond._watch import when_imported


def _install() -> None:
    from tritond._install import install_from_environment

    install_from_environment()


def _attach_tuning() -> None:
    from tritond._install import attach_tuning

    attach_tuning()


when_imported("triton.backends", _install)
when_imported("triton.runtime.autotuner", _attach_tuning)
