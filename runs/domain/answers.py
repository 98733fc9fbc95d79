"""What a sender is told about a refusal: which rule was broken, and what to do about it.

Never what was sent. Which limit was met is said beside the sentence. The reason is for programs and
stays as it is; the sentence is for people.
"""

from collections.abc import Mapping

_ANSWERS: Mapping[str, str] = {
    # The request.
    "bad_host": "The Host header is not a name of this Console; see ALLOWED_HOSTS.",
    "bad_address": "The address holds characters that no address of this API has.",
    "headers_too_large": "The headers are larger than is taken; send fewer or shorter ones.",
    "body_too_slow": "The body took too long to arrive; send fewer events at once.",
    "idempotency_key": "An Idempotency-Key has 22 to 128 of the characters A-Za-z0-9._~-.",
    "scope": "This key may not do that; create one with the scope.",
    "rate_exceeded": "More is sent than is taken; wait as long as Retry-After says, then go on.",
    "too_many_at_once": "Too much of this host waits for its turn; send again after a moment.",
    "overloaded": "The Console is busier than it can bear; send again after a moment.",
    "database_away": "The database does not answer; send again after a moment, which is harmless.",
    "metrics_token": "Send the token of OPENWOP_CONSOLE_METRICS_TOKEN as `Bearer`.",
    # The body.
    "media_type": "Send application/json or application/x-ndjson.",
    "charset_unsupported": "Send JSON as UTF-8.",
    "content_encoding": "Send the body plain, or as one gzip member with nothing behind it.",
    "body_too_large": "The body is larger than is taken; send fewer events at once.",
    "json_encoding": "The body is not UTF-8, or begins with a byte order mark.",
    "json_invalid": "The body is not JSON as RFC 8259 defines it.",
    "json_not_object": "An event is a JSON object.",
    "json_too_deep": "The JSON nests deeper than is taken; flatten the payload.",
    "json_duplicate_key": "An object has the same key twice; send each key once.",
    "number_out_of_range": "A number fits neither 64 bits nor a double; send it as a string.",
    "nul_character": "A string holds the NUL character; remove it before sending.",
    "lone_surrogate": "A string holds half of a surrogate pair; send whole characters.",
    "too_many_keys": "An object has too many keys; send an array, or several events.",
    "too_many_elements": "There are too many elements; send fewer, or refer to them by an id.",
    # The batch.
    "batch_empty": "The batch has no events; send at least one.",
    "batch_too_many": "The batch has more events than are taken at once; split it.",
    "item_invalid": "An item of the batch is not a JSON object.",
    "additional_property": "Beside `events` nothing else may stand in a batch.",
    # The envelope.
    "required": "A required field is missing.",
    "type": "A field has a value of the wrong JSON type.",
    "schema": "A field is empty, too long, or otherwise not what its schema asks for.",
    "id_charset": "An id holds characters that cannot be seen; use printable ones.",
    "id_reserved": "Event ids that begin with `console:` are the Console's own; use another.",
    "type_invalid": "The event type is neither registered nor a vendor type in dotted form.",
    "sequence_invalid": "The sequence is not an integer from 0 to 9007199254740991.",
    "timestamp_invalid": "The timestamp is not a date and time with an offset (RFC 3339).",
    "timestamp_in_future": "The timestamp is too far ahead of the Console's clock; check yours.",
    "canary_over": "This run id was for a connection test that is over; start a new one.",
    "run_id_mismatch": "Around the event stands another run id than in it.",
    "tenant_mismatch": "The run id belongs to another tenant than this host.",
    # The payload.
    "payload_schema": "The verdict is not one; send agentId, target and pass, fail or revise.",
    "verifier_content_leak": "A verdict names ids and keys and never content; remove the rest.",
    "payload_too_large": "The payload hides what a gate depends on; send its text by reference.",
    # What is held already.
    "event_id_conflict": "This event id is held with other content; give a new event a new id.",
    "sequence_conflict": "This sequence is held by another event; number events once.",
}
_DEFAULT = "The event breaks a rule; see the reason."


def message_of(reason: str) -> str:
    """One sentence about a refusal for this reason."""
    return _ANSWERS.get(reason, _DEFAULT)
