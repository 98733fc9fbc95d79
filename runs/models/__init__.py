"""The tables of facts."""

from runs.models.connection import ConnectionTest, WebhookSubscription
from runs.models.delivery import ReceivedDelivery, RetiringSecret
from runs.models.event import Event, Gap, Refusal
from runs.models.host import CapabilitySnapshot, Host, HostKey, OwnHost
from runs.models.pulling import PulledHost, PulledRun, PullRound, RunSnapshot
from runs.models.run import Run
from runs.models.sweep import Sweep
from runs.models.viewer import Viewer, workspaces_of
from runs.models.workspace import Membership, Role, Workspace

__all__ = [
    "CapabilitySnapshot",
    "ConnectionTest",
    "Event",
    "Gap",
    "Host",
    "HostKey",
    "Membership",
    "OwnHost",
    "PullRound",
    "PulledHost",
    "PulledRun",
    "ReceivedDelivery",
    "Refusal",
    "RetiringSecret",
    "Role",
    "Run",
    "RunSnapshot",
    "Sweep",
    "Viewer",
    "WebhookSubscription",
    "Workspace",
    "workspaces_of",
]
