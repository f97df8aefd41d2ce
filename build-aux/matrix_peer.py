"""matrix_peer.py - another Matrix client, matrix-nio, for MatrixServerTests to talk to.

usage: matrix_peer.py HOMESERVER USER PASSWORD STORE
       matrix_peer.py --check           only makes a client, which shows that all it needs is installed

Signs in with end-to-end encryption, and keeps its keys in the folder STORE. Then it answers lines (peer_commands.py).
build-aux/ratchets-peers --matrix installs what it needs.
"""
import asyncio
import hashlib
import sys
import tempfile

from nio import (
    AsyncClient, AsyncClientConfig, DownloadResponse, JoinResponse, LoginResponse, MegolmEvent, RoomGetEventResponse,
    RoomKeyRequestResponse, RoomSendResponse, UnknownToDeviceEvent, UploadResponse)
from nio.crypto.attachments import decrypt_attachment

from peer_commands import pattern, serve


class Peer:
    def __init__(self, homeserver, user, store):
        config = AsyncClientConfig(encryption_enabled=True, store_sync_tokens=True)
        self.client = AsyncClient(homeserver, user, store_path=store, config=config)
        self.reasons = {}
        self.client.add_to_device_callback(self.note, UnknownToDeviceEvent)

    def note(self, event):
        if event.type == "m.room_key.withheld":
            content = event.source["content"]
            self.reasons[content.get("session_id")] = content.get("code")

    async def login(self, password):
        answer = await self.client.login(password, device_name="peer")
        if not isinstance(answer, LoginResponse):
            raise RuntimeError(f"login: {answer}")
        await self.client.sync(timeout=0, full_state=True)
        # Without them nobody could share a key with it.
        if self.client.should_upload_keys:
            await self.client.keys_upload()

    async def join(self, room):
        answer = await self.client.join(room)
        if not isinstance(answer, JoinResponse):
            raise RuntimeError(f"join: {answer}")
        await self.client.sync(timeout=0, full_state=True)
        return self.client.device_id

    async def sync(self):
        await self.client.sync(timeout=0)
        if self.client.should_query_keys:
            await self.client.keys_query()

    async def send(self, room, content, type="m.room.message"):
        await self.sync()
        answer = await self.client.room_send(room, type, content, ignore_unverified_devices=True)
        if not isinstance(answer, RoomSendResponse):
            raise RuntimeError(f"send: {answer}")
        return answer.event_id

    async def send_file(self, room, name, size):
        """Uploads SIZE bytes, encrypted, and sends them."""
        answer, file = await self.client.upload(
            lambda *_: pattern(size), content_type="application/octet-stream", filename=name, encrypt=True, filesize=size)
        if not isinstance(answer, UploadResponse):
            raise RuntimeError(f"upload: {answer}")
        file["url"] = answer.content_uri
        info = {"mimetype": "application/octet-stream", "size": size}
        return await self.send(room, {"msgtype": "m.file", "body": name, "file": file, "info": info})

    async def read(self, room, event):
        """What an encrypted event says, or null if there is no key for it."""
        await self.sync()
        answer = await self.client.room_get_event(room, event)
        if not isinstance(answer, RoomGetEventResponse):
            raise RuntimeError(f"event: {answer}")
        if isinstance(answer.event, MegolmEvent):
            return None
        if not answer.event.decrypted:
            raise RuntimeError(f"not encrypted: {answer.event}")
        return answer.event.source["content"]

    async def read_file(self, room, event):
        """The SHA-256 of the file of an event, decrypted."""
        content = await self.read(room, event)
        file = content["file"]
        answer = await self.client.download(mxc=file["url"])
        if not isinstance(answer, DownloadResponse):
            raise RuntimeError(f"download: {answer}")
        data = decrypt_attachment(answer.body, file["key"]["k"], file["hashes"]["sha256"], file["iv"])
        return hashlib.sha256(data).hexdigest()

    async def withheld(self, session):
        """Why the key of a session was not sent to it."""
        await self.sync()
        return self.reasons.get(session)

    async def request_key(self, room, event):
        """Asks the devices that may have it for the key of an event."""
        answer = await self.client.room_get_event(room, event)
        answer = await self.client.request_room_key(answer.event)
        if not isinstance(answer, RoomKeyRequestResponse):
            raise RuntimeError(f"request: {answer}")

    async def export_keys(self, file, passphrase):
        await self.client.export_keys(file, passphrase)

    async def import_keys(self, file, passphrase):
        await self.client.import_keys(file, passphrase)

    async def rotate(self, room):
        """The next message is of another session."""
        self.client.invalidate_outbound_session(room)


async def check():
    with tempfile.TemporaryDirectory() as store:
        client = Peer("http://localhost", "@peer:localhost", store).client
        client.restore_login("@peer:localhost", "DEVICE", "token")
        await client.close()


async def main():
    homeserver, user, password, store = sys.argv[1:]
    peer = Peer(homeserver, user, store)
    try:
        await peer.login(password)
        await serve(peer)
    finally:
        await peer.client.close()


asyncio.run(check() if sys.argv[1:] == ["--check"] else main())
