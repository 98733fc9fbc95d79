"""The path converter for run ids."""

from runs.domain.run_ids import from_segment, to_segment


class RunConverter:
    """Takes a run id as one projected segment; an id with a decoded slash is accepted too."""

    regex = ".+?"

    def to_python(self, value: str) -> str:
        """Return the run id. Raises ValueError, which makes the address unknown."""
        return from_segment(value)

    def to_url(self, value: str) -> str:
        """Return the segment."""
        return to_segment(value)
