"""The device that is not there: a Triton driver and `torch.cuda` answers for the cell's target.

Both note which questions were asked, and by whom: a module that asks about the device while it is imported has to be
imported once per target. Questions with the same answer for every target (is there one, how many) are not noted.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from typing import Any, ClassVar

# Frames of these are looked through to find who asked. A library that asks while it is itself imported does not count.
_LIBRARIES = frozenset({"torch", "triton", "portcheck_child", "functools"})


class Device:
    """What is asked of the device, and the answers for the target that it stands for now."""

    def __init__(self) -> None:
        self.target: Any = None  # a triton GPUTarget
        self.properties: Mapping[str, Any] = {}
        self.asked: set[str] = set()
        self.driver: Driver | None = None
        self.on_first: Callable[[], None] | None = None  # called when the first question is noted

    def become(self, target: Any, properties: Mapping[str, Any]) -> None:
        """Answer for `target` from now on. `properties`: name, capability, multiprocessors, shared memory, …"""
        self.target, self.properties = target, properties
        if self.driver is not None:
            self._activate()

    @property
    def is_replaced(self) -> bool:
        """Has user code made another driver the active one?"""
        from triton.runtime.driver import driver

        return driver.active is not self.driver

    def install(self) -> None:
        """Become Triton's active driver."""
        self.driver = Driver(self)
        self._activate()

    def _activate(self) -> None:
        from triton.runtime.driver import driver

        driver.set_active(self.driver)

    def note(self, question: str) -> None:
        """Remember that user code asked, directly or through a function of torch or Triton."""
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None:
            asker = frame.f_globals.get("__name__", "")
            if asker.startswith("importlib."):
                return
            if asker.split(".")[0] not in _LIBRARIES:
                if not self.asked and self.on_first:
                    self.on_first()
                self.asked.add("%s asked %s" % (asker, question))
                return
            frame = frame.f_back

    @property
    def is_hip(self) -> bool:
        return bool(self.target.backend == "hip")

    def capability(self) -> tuple[int, ...]:
        """(major, minor), as torch gives it on either vendor."""
        return tuple(self.properties["capability"])


class _Utils:
    """`driver.active.utils`, as far as user code asks it."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def get_device_properties(self, index: int = 0) -> dict[str, Any]:
        self._device.note("get_device_properties")
        p = self._device.properties
        return {
            "max_shared_mem": p["shared_memory"],
            "multiprocessor_count": p["multiprocessors"],
            "warpSize": self._device.target.warp_size,
            "max_num_regs": p["registers"],
            "sm_clock_rate": p["clock_khz"],
            "mem_clock_rate": p["clock_khz"],
            "mem_bus_width": 4096,
            "arch": str(self._device.target.arch),
        }


class Driver:
    """Enough of a Triton driver to compile, on every release from 3.0 to 3.9."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.utils = _Utils(device)

    def get_current_target(self) -> Any:
        self._device.note("get_current_target")
        return self._device.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: object = None) -> int:
        return 0

    def get_benchmarker(self) -> Callable[..., Any]:
        """Autotuners ask for it; from 3.2 to 3.3 as soon as they decorate a kernel."""
        return _measure

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda


def _measure(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("there is no device to measure anything on")


class _Version(types.ModuleType):
    """`torch.version`, answering `hip` and `cuda` as the build for the target's vendor would."""

    _device: ClassVar[Device]

    @property
    def hip(self) -> str | None:
        self._device.note("torch.version.hip")
        return "7.0.0" if self._device.is_hip else None

    @property
    def cuda(self) -> str | None:
        self._device.note("torch.version.cuda")
        return None if self._device.is_hip else "12.8"


def stand_in_for_torch(torch: Any, device: Device) -> None:
    """Make `torch.cuda` answer for the device. What would touch a real one (streams, memory) is left alone."""

    def properties(index: object = None) -> types.SimpleNamespace:
        device.note("get_device_properties")
        p, target = device.properties, device.target
        major, minor = device.capability()
        return types.SimpleNamespace(
            name=p["name"],
            major=major,
            minor=minor,
            total_memory=p["memory"],
            multi_processor_count=p["multiprocessors"],
            warp_size=target.warp_size,
            shared_memory_per_block=min(p["shared_memory"], 49152) if not device.is_hip else p["shared_memory"],
            shared_memory_per_block_optin=p["shared_memory"],
            shared_memory_per_multiprocessor=p["shared_memory"],
            regs_per_multiprocessor=p["registers"],
            max_threads_per_multi_processor=2048,
            gcnArchName=str(target.arch) if device.is_hip else p["name"],
            L2_cache_size=p["l2"],
            is_integrated=0,
            is_multi_gpu_board=0,
        )

    def capability(index: object = None) -> tuple[int, ...]:
        device.note("get_device_capability")
        return device.capability()

    def name(index: object = None) -> str:
        device.note("get_device_name")
        return str(device.properties["name"])

    def bf16(including_emulation: bool = True) -> bool:
        device.note("is_bf16_supported")
        return device.is_hip or including_emulation or device.capability() >= (8, 0)

    def arches() -> list[str]:
        device.note("get_arch_list")
        arch = str(device.target.arch)
        return [arch if device.is_hip else "sm_" + arch]

    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": properties,
        "get_device_capability": capability,
        "get_device_name": name,
        "is_bf16_supported": bf16,
        "get_arch_list": arches,
    }
    for question, answer in answers.items():
        setattr(torch.cuda, question, answer)
    version = _Version("torch.version", torch.version.__doc__)
    version.__dict__.update({k: v for k, v in vars(torch.version).items() if k not in ("hip", "cuda")})
    _Version._device = device
    torch.version = sys.modules["torch.version"] = version


class _TorchHook(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Puts the stand-ins in place as soon as user code has imported torch."""

    _spec: ModuleSpec
    _loader: importlib.abc.Loader

    def __init__(self, device: Device) -> None:
        self._device = device

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            self._spec, self._loader, spec.loader = spec, spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        stand_in_for_torch(module, self._device)


def install(device: Device) -> None:
    """Make `device` Triton's active driver, and torch's device once torch is imported."""
    device.install()
    sys.meta_path.insert(0, _TorchHook(device))
