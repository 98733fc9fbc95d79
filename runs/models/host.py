"""Hosts, the keys they write with, and what they said they can do."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from runs.models.workspace import Workspace


class OwnHost(ValueError):
    """The Console's own host: who could write as it could forge what judges said."""

    def __str__(self) -> str:
        return "This is the Console's own host: it has no key, no secret and no address."


class Host(models.Model):
    """An OpenWOP server that executes runs and sends us events."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="hosts")
    slug = models.SlugField(
        max_length=64, unique=True, help_text="The host's id in addresses and in the API."
    )
    name = models.CharField(max_length=128)
    base_url = models.URLField(
        max_length=512, blank=True, default="", help_text="Where the host answers; empty: nowhere."
    )
    protocol_major = models.PositiveSmallIntegerField(
        default=1, help_text="1: paths below /v1. 2: bare paths and the OpenWOP-Version header."
    )
    sealed_api_key = models.BinaryField(
        default=b"", help_text="The key we present to the host, encrypted."
    )
    sealed_webhook_secret = models.BinaryField(
        default=b"", help_text="The secret both sides sign webhooks with, encrypted."
    )
    tenant = models.CharField(
        max_length=134,
        blank=True,
        default="",
        help_text="OpenWOP tenant of its tenant-bound run ids; empty: any.",
    )
    is_own = models.BooleanField(
        default=False,
        help_text="The Console itself: its events come from within, and nobody gets a key for it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects: "models.Manager[Host]" = models.Manager()

    def __str__(self) -> str:
        return self.slug

    def check_is_foreign(self) -> None:
        """Let nobody have a way in as the Console itself. Raises OwnHost."""
        if self.is_own:
            raise OwnHost


class HostKey(models.Model):
    """A secret that a host presents to us. Only its hash is kept.

    An API request made with a key is authenticated *as* the key, so it has the two attributes that
    Django and DRF ask of a user.
    """

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="keys")
    key_id = models.CharField(max_length=32, unique=True, help_text="The readable part.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the secret part, in hex.")
    scopes = ArrayField(models.CharField(max_length=32), default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    is_canary = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The Console's own, for a connection test: gone with its end.",
    )

    is_authenticated = True
    is_active = True
    is_superuser = False

    def __str__(self) -> str:
        return self.key_id


class CapabilitySnapshot(models.Model):
    """What a host advertised, and from when to when: a finding is judged by what held then."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="capabilities")
    document: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True, help_text="Empty: it holds now.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["host"],
                condition=models.Q(valid_to=None),
                name="a_host_advertises_one_document_at_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(valid_to=None) | models.Q(valid_to__gte=models.F("valid_from")),
                name="a_snapshot_ends_after_it_starts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host} from {self.valid_from:%Y-%m-%d %H:%M}"
