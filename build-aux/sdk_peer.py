"""sdk_peer.py - another Matrix client, matrix-rust-sdk, for MatrixServerTests to talk to.

usage: sdk_peer.py HOMESERVER USER PASSWORD STORE [--restored]
       sdk_peer.py --check           only makes a client, which shows that all it needs is there

Signs in under the strictest settings there are: it encrypts for devices that their owners have confirmed, decrypts what
such devices have sent, and refuses the rest. Answers lines as matrix_peer.py does, and syncs when it is asked something,
but for verifications. A key from a backup proves nothing of its sender, so that it reads none of them under these
settings: with --restored it does. The folder STORE stays empty. build-aux/ratchets-peers --sdk installs what it needs.
"""
import asyncio
import hashlib
import json
import sys
import time
import urllib.parse
import urllib.request

import matrix_sdk_python as sdk
from matrix_sdk_python._generated import matrix_sdk as sdk_core, matrix_sdk_crypto as crypto

from peer_commands import pattern, serve

PATIENCE = 20  # seconds


class Verifications(sdk.SessionVerificationControllerDelegate):
    """What has happened in the verification there is. Called on other threads."""

    def __init__(self):
        self.request = None
        self.events = []
        self.emoji = None

    def did_receive_verification_request(self, details):
        self.request = details
        self.events.append("requested")

    def did_accept_verification_request(self):
        self.events.append("accepted")

    def did_start_sas_verification(self):
        self.events.append("started")

    def did_receive_verification_data(self, data):
        self.emoji = [emoji.symbol() for emoji in data.emojis]
        self.events.append("shown")

    def did_fail(self):
        self.events.append("failed")

    def did_cancel(self):
        self.events.append("cancelled")

    def did_finish(self):
        self.events.append("finished")


class Listener(sdk.EnableRecoveryProgressListener):
    def on_update(self, status):
        pass


class TimelineListener(sdk.TimelineListener):
    def on_update(self, diff):
        pass


class Peer:
    def __init__(self, homeserver, user, reads_restored=False):
        trust = crypto.TrustRequirement
        self.trust = trust.CROSS_SIGNED_OR_LEGACY if reads_restored else trust.CROSS_SIGNED
        self.homeserver = homeserver
        self.user = user
        self.timelines = {}
        self.verifications = None
        self.controller = None

    async def start(self):
        builder = sdk.ClientBuilder().homeserver_url(self.homeserver).in_memory_store()
        builder = builder.auto_enable_cross_signing(True).auto_enable_backups(True)
        builder = builder.backup_download_strategy(sdk_core.BackupDownloadStrategy.ONE_SHOT)
        builder = builder.room_key_recipient_strategy(crypto.CollectStrategy.IDENTITY_BASED_STRATEGY)
        self.client = await builder.decryption_settings(crypto.DecryptionSettings(
            sender_device_trust_requirement=self.trust)).build()

    async def login(self, password):
        await self.client.login(self.user, password, "peer", None)
        self.encryption = self.client.encryption()
        await self.sync()
        await self.encryption.wait_for_e2ee_initialization_tasks()
        await self.sync()

    async def sync(self):
        await self.client.sync_once_v2(sdk.SyncSettingsV2(timeout_ms=0))

    async def until(self, condition, what):
        """Syncs until there is what is waited for."""
        deadline = time.monotonic() + PATIENCE
        while True:
            await self.sync()
            found = condition()
            found = await found if asyncio.iscoroutine(found) else found
            if found:
                return found
            if time.monotonic() > deadline:
                raise RuntimeError(f"not within {PATIENCE} s: {what}")
            await asyncio.sleep(0.05)

    async def join(self, room):
        await self.client.join_room_by_id(room)

        async def is_encrypted():
            found = self.client.get_room(room)
            return found is not None and await found.is_encrypted()

        await self.until(is_encrypted, "an encrypted room")
        # It asks for members, whose devices it learns, and decrypts what comes from now on.
        timeline = await self.client.get_room(room).timeline()
        self.timelines[room] = timeline, await timeline.add_listener(TimelineListener())
        return self.client.device_id()

    def newest_sent(self, room):
        """The last event that this device has sent: the library does not say."""
        url = f"{self.homeserver}/_matrix/client/v3/rooms/{urllib.parse.quote(room)}/messages?dir=b&limit=30"
        token = self.client.session().access_token
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})) as answer:
            events = json.load(answer)["chunk"]
        sent = (event["event_id"] for event in events if "transaction_id" in event.get("unsigned", {}))
        return next(sent, None)

    async def send(self, room, content, type="m.room.message"):
        await self.sync()
        await self.client.get_room(room).send_raw(type, json.dumps(content))
        return self.newest_sent(room)

    async def send_file(self, room, name, size):
        """Uploads SIZE bytes, encrypted, and sends them."""
        await self.sync()
        before = self.newest_sent(room)
        source = sdk.UploadSource.DATA(pattern(size), name)
        parameters = sdk.UploadParameters(
            source=source, caption=None, formatted_caption=None, mentions=None, in_reply_to=None)
        info = sdk.FileInfo(
            mimetype="application/octet-stream", size=size, thumbnail_info=None, thumbnail_source=None)
        await self.timelines[room][0].send_file(parameters, info).join()

        async def sent():
            event = self.newest_sent(room)
            return event if event != before else None

        return await self.until(sent, "a file that was sent")

    async def item(self, room, event):
        """An event that can be decrypted; None if it can't."""
        deadline = time.monotonic() + PATIENCE
        while True:
            await self.sync()
            try:
                item = await self.timelines[room][0].get_event_timeline_item_by_event_id(event)
            except sdk.ClientError:
                if time.monotonic() > deadline:
                    raise
                # Of before it has come, or not here yet.
                await self.timelines[room][0].paginate_backwards(50)
                await asyncio.sleep(0.05)
                continue
            if not item.content.content.kind.is_unable_to_decrypt():
                return item
            # Its key may be on its way from the backup.
            if time.monotonic() > deadline - PATIENCE / 2:
                return None
            await asyncio.sleep(0.05)

    async def read(self, room, event):
        """What an encrypted event says, or null if there is no key for it, or not from whom it has to be."""
        item = await self.item(room, event)
        return item and json.loads(item.lazy_provider.debug_info().original_json)["content"]

    async def edited(self, room, event):
        """What the last edit of an event says."""
        def latest(item):
            latest = item and item.lazy_provider.debug_info().latest_edit_json
            return latest and json.loads(latest)["content"]

        async def edit():
            return latest(await self.item(room, event))

        return await self.until(edit, "an edit")

    async def read_file(self, room, event):
        """The SHA-256 of the file of an event, decrypted."""
        item = await self.item(room, event)
        source = item.content.content.kind.content.msg_type.content.source
        return hashlib.sha256(await self.client.get_media_content(source)).hexdigest()

    async def say_numbers(self, room, first, count):
        """Sends a text for each of these numbers, each with a key of its own."""
        found = self.client.get_room(room)
        for number in range(first, first + count):
            await found.discard_room_key()
            await found.send_raw("m.room.message", json.dumps({"msgtype": "m.text", "body": str(number)}))

    async def read_all(self, room):
        """What all messages of a room say, by their identifiers; null for those that it has no key for."""
        url = f"{self.homeserver}/_matrix/client/v3/rooms/{urllib.parse.quote(room)}/messages"
        events = await asyncio.to_thread(self.sealed_events, url)
        timeline, _ = self.timelines[room]
        while not await timeline.paginate_backwards(500):
            pass
        deadline = time.monotonic() + PATIENCE
        found = {}
        while True:
            for event in events:
                if found.get(event) is None:
                    item = await timeline.get_event_timeline_item_by_event_id(event)
                    is_sealed = item.content.content.kind.is_unable_to_decrypt()
                    text = None if is_sealed else json.loads(item.lazy_provider.debug_info().original_json)
                    found[event] = text and text["content"]["body"]
            if None not in found.values() or time.monotonic() > deadline:
                return found
            # Keys may be on their way from the backup.
            await self.sync()

    def sealed_events(self, url):
        """The identifiers of all encrypted events, as the server lists them: the library does not say."""
        headers = {"Authorization": f"Bearer {self.client.session().access_token}"}
        found, position = [], None
        while True:
            query = urllib.parse.urlencode({"dir": "b", "limit": 1000} | ({"from": position} if position else {}))
            with urllib.request.urlopen(urllib.request.Request(f"{url}?{query}", headers=headers)) as answer:
                page = json.load(answer)
            found += [event["event_id"] for event in page["chunk"] if event["type"] == "m.room.encrypted"]
            position = page.get("end")
            if not position:
                return found

    async def rotate(self, room):
        """The next message is of another session."""
        await self.client.get_room(room).discard_room_key()

    # Recovery and trust.

    async def enable_recovery(self):
        """The recovery key, once all keys are in the backup."""
        return await self.encryption.enable_recovery(True, None, Listener())

    async def recover(self, key):
        await self.encryption.recover(key)
        await self.sync()

    async def back_up(self):
        """Returns once all keys are in the backup."""
        await self.encryption.wait_for_backup_upload_steady_state(None)

    async def state(self):
        return {
            "backup": self.encryption.backup_state().name, "recovery": self.encryption.recovery_state().name,
            "verification": self.encryption.verification_state().name}

    async def reach(self, name, value):
        async def reached():
            return (await self.state())[name] == value

        await self.until(reached, f"{name} {value}")

    async def control(self):
        if self.controller is None:
            self.controller = await self.client.get_session_verification_controller()
        self.verifications = Verifications()
        self.controller.set_delegate(self.verifications)
        return self.controller

    async def expect_verification(self):
        # It ignores requests of devices that it does not know yet.
        await self.sync()
        await self.sync()
        await self.control()

    async def verify_device(self):
        await (await self.control()).request_device_verification()

    async def verify_user(self, user, room):
        # Without a direct chat it would make another one.
        await self.client.set_account_data("m.direct", json.dumps({user: [room]}))
        await self.sync()
        await self.encryption.user_identity(user, True)
        await (await self.control()).request_user_verification(user)

    async def accept_verification(self):
        await self.happened("requested")
        request = self.verifications.request
        await self.controller.acknowledge_verification_request(request.sender_profile.user_id, request.flow_id)
        await self.controller.accept_verification_request()

    async def start_sas(self):
        await self.happened("accepted")
        await self.controller.start_sas_verification()

    async def emoji(self):
        """The seven emoji to compare."""
        await self.happened("shown")
        return self.verifications.emoji

    async def confirm(self):
        await self.controller.approve_verification()

    async def deny(self):
        await self.controller.cancel_verification()

    async def happened(self, event):
        def has_happened():
            if event not in ("failed", "cancelled") and {"failed", "cancelled"} & set(self.verifications.events):
                raise RuntimeError(f"verification: {self.verifications.events}")
            return event in self.verifications.events

        await self.until(has_happened, f"{event}, only {self.verifications.events}")

    async def expect_verified(self, user):
        async def is_verified():
            identity = await self.encryption.user_identity(user, True)
            return identity is not None and identity.is_verified()

        await self.until(is_verified, f"{user} verified")


async def main():
    homeserver, user, password, _, *options = sys.argv[1:]
    peer = Peer(homeserver, user, "--restored" in options)
    await peer.start()
    await peer.login(password)
    await serve(peer)


asyncio.run(Peer("http://localhost", "@peer:localhost").start() if sys.argv[1:] == ["--check"] else main())
