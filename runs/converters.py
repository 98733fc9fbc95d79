"""The path converter for run ids."""

from runs.domain.run_ids import LONGEST_RUN_ID, BadSegment, from_segment, to_segment


class RunConverter:
    """Takes a run id as one projected segment; an id with a decoded slash is accepted too."""

    regex = ".+?"

    def to_python(self, value: str) -> str:
        """Return the run id. Raises ValueError, which makes the address unknown."""
        run_id = from_segment(value)
        if len(run_id) > LONGEST_RUN_ID:
            raise BadSegment
        return run_id

    def to_url(self, value: str) -> str:
        """Return the segment."""
        return to_segment(value)
