"""What runs capture besides metrics."""

from collections.abc import Sequence

from deviate import replay
from deviate.cli.options.groups import flag, option_group
from deviate.errors import InputError
from deviate.project import CaptureConfig


@option_group
class CaptureFlags:
    """What runs capture besides metrics, as options."""

    capture: str | None = flag(
        "KINDS", "Keep of each run: predictions, weights, both with a comma between, or none. Default: none."
    )
    capture_every: int | None = flag(
        "K", "With --capture: also every K steps of the main loop. Default: at the end.", min=1
    )
    capture_limit: str | None = flag("SIZE", f"With --capture: most that a run keeps. Default: {replay.DEFAULT_LIMIT}.")
    tta: str | None = flag("NAMES", "Keep predictions of augmented test inputs as well: flip,crop25.")

    def spec(self, saved: CaptureConfig) -> tuple[tuple[str, str], ...]:
        """The capture as in `Spec.capture`; options have precedence over `deviate.toml`.

        Raises:
            InputError: it cannot be kept, or there is nothing to keep.
        """
        kinds = saved.keep or () if self.capture is None else _names(self.capture, "--capture")
        augmentations = saved.tta or () if self.tta is None else _names(self.tta, "--tta")
        if self.tta is None and self.capture is not None and "predictions" not in kinds:
            augmentations = ()  # the file requests augmented predictions, and this call requests none
        is_none = self.capture == "none"
        return replay.capture_pairs(
            kinds,
            every=self.capture_every or (None if is_none else saved.every),
            limit=self.capture_limit or (None if is_none else saved.limit),
            augmentations=augmentations,
            flag="[capture] keep" if self.capture is None and saved.keep else "--capture",
        )


def _names(text: str, flag: str) -> Sequence[str]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError(f"{flag} is empty", f"name something, or leave {flag} away")
    return names
