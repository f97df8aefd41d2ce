"""Accounts for build-aux/bench-peers: a homeserver with rooms and an XMPP server with as many contacts, both on this
computer alone, and Parlance, Nheko and Dino signed in, each in a home of its own.
"""
import contextlib
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import subprocess
import time
import urllib.parse

from matrix_person import call, set_up_encryption, sign_in
from window_person import Person, fail, wait

ROOMS = 61
MESSAGES = 10_000  # in the first room
OTHERS = 50  # in each of the others
SIZE = 1200, 800
XMPP = 5222
DAY = 86400
WORDS = "the river runs behind our house and nobody has ever seen where it ends except Ada who says it is a lake".split()
# The window's place is the window manager's; these are the buttons that Nheko shows a new account, within its window.
NHEKO_SET_UP, NHEKO_KEY_SEEN = (1048, 762), (1146, 431)


@contextlib.contextmanager
def servers(folder, program):
    """Runs the servers, with everything in the folder that is not there yet."""
    complete = folder / "complete"
    data = ["--data", str(folder / "synapse")]
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", XMPP))
        except OSError:
            fail(f"port {XMPP} is taken, where alone Dino looks for its server")
    if not complete.exists():
        subprocess.run(["build-aux/synapse", "down", *data], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    try:
        server = subprocess.run(["build-aux/synapse", "up", *data], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        if not complete.exists():
            make_rooms(server, data)
            parlance(program, server, folder / "parlance")
            nheko(server, folder / "nheko")
            xmpp_accounts(folder / "xmpp")
            dino(folder / "dino")
            complete.touch()
        xmpp = subprocess.Popen(["prosody", "--config", f"{folder}/xmpp/prosody.cfg.lua", "-F"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            xmpp.terminate()
            xmpp.wait()
    finally:
        subprocess.run(["build-aux/synapse", "down", *data], check=True)


def make_rooms(server, data):
    """user1 is Parlance's, user2 Nheko's; user3 speaks too. Nothing is unread."""
    for rooms, messages in ((ROOMS, ROOMS * OTHERS), (1, MESSAGES - OTHERS)):
        subprocess.run(["build-aux/synapse", "fill", *data, "--users", "3", "--rooms", str(rooms), "--messages",
                        str(messages)], check=True)
    for number in (1, 2):
        token = enter(server, number)["access_token"]
        for room in call(server, "GET", "joined_rooms", token=token)["joined_rooms"]:
            path = f"rooms/{urllib.parse.quote(room)}"
            last = call(server, "GET", f"{path}/messages?dir=b&limit=1", token=token)["chunk"][0]["event_id"]
            call(server, "POST", f"{path}/read_markers", {"m.fully_read": last, "m.read": last}, token)


def enter(server, number):
    return call(server, "POST", "login", {"type": "m.login.password", "password": "password",
                                          "identifier": {"type": "m.id.user", "user": f"user{number}"}})


def home_environment(home):
    """Nothing of the account's own settings and data is read or written."""
    return {"HOME": str(home), "XDG_CONFIG_HOME": f"{home}/config", "XDG_DATA_HOME": f"{home}/data",
            "XDG_CACHE_HOME": f"{home}/cache", "XDG_STATE_HOME": f"{home}/state", "GSETTINGS_BACKEND": "keyfile",
            # For Qt what cairo is for GTK; with GL in software Nheko takes more of everything.
            "QT_QUICK_BACKEND": "software"}


def parlance(program, server, home):
    """Signs in by the dialogs, as a person does."""
    person = Person(program, "bench", (40, 60, *SIZE), False)
    try:
        sign_in(person, server, "user1", keyring=False, password="password", in_file=True)
        set_up_encryption(person)
        person.sees("Room 1,")
        person.press("ctrl+q")
        wait("Parlance's end", lambda: person.process.poll() is not None)
        for name in ("config", "data", "cache", "state"):
            made = pathlib.Path(person.home, name if name == "config" else f"XDG_{name.upper()}_HOME")
            shutil.copytree(made, home / name)
    finally:
        person.end()


def start(command, home):
    return subprocess.Popen(command, env={**os.environ, **home_environment(home)}, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def nheko(server, home):
    """Writes what its page for signing in writes, and sets up encryption in its dialog."""
    login = enter(server, 2)
    user, token = login["user_id"], login["access_token"]
    (home / "config/nheko").mkdir(parents=True)
    # Qt takes a single @ at the start for a type of its own.
    (home / "config/nheko/nheko.conf").write_text(f"""[General]
run_without_secure_secrets_service=true

[auth]
access_token={token}
device_id={login['device_id']}
home_server={server}
user_id=@{user}

[window]
width={SIZE[0]}
height={SIZE[1]}
""")
    process = start(["nheko"], home)

    def click(place):
        found = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(process.pid), "--name", "."],
                               capture_output=True, text=True).stdout.split()
        if found:
            subprocess.run(["xdotool", "mousemove", "--window", found[0], *map(str, place), "click", "1"], check=True)
        time.sleep(2)

    def has_identity():
        click(NHEKO_SET_UP)
        return call(server, "POST", "keys/query", {"device_keys": {user: []}}, token).get("master_keys")
    wait("Nheko's set up of encryption", has_identity)
    click(NHEKO_KEY_SEEN)
    process.terminate()
    process.wait()


def xmpp_accounts(folder):
    """What the XMPP server keeps: a user, whose roster has the contacts, and a certificate."""
    for name in ("accounts", "roster"):
        (folder / "data/localhost" / name).mkdir(parents=True)
    (folder / "data/localhost/accounts/bench.dat").write_text('return { ["password"] = "password" };\n')
    contacts = "".join(f'["{contact(room)}"] = {{ ["name"] = "Room {room}"; ["subscription"] = "both"; ["groups"] = {{}} }};\n'
                       for room in range(1, ROOMS + 1))
    (folder / "data/localhost/roster/bench.dat").write_text(
        f'return {{ [false] = {{ ["version"] = 1; ["pending"] = {{}} }};\n{contacts}}};\n')
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, stderr=subprocess.DEVNULL)
    (folder / "prosody.cfg.lua").write_text(f"""
run_as_root = true
data_path = "{folder}/data"
interfaces = {{ "127.0.0.1" }}
s2s_ports = {{}}
http_ports = {{}}
https_ports = {{}}
modules_enabled = {{ "roster", "saslauth", "tls", "disco", "carbons", "pep", "blocklist", "smacks", "ping", "mam" }}
modules_disabled = {{ "s2s", "posix" }}
authentication = "internal_plain"
log = {{ info = "{folder}/log" }}
VirtualHost "localhost"
ssl = {{ key = "{folder}/key.pem", certificate = "{folder}/cert.pem" }}
""")


def dino(home):
    """Dino makes its database at its first start; account, contacts and messages are put there."""
    database = home / "data/dino/dino.db"
    process = start(["dino-im"], home)

    def is_made():
        if not database.exists():
            return False
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
            # The last thing that it writes.
            return store.execute("SELECT count(*) FROM sqlite_master WHERE name = 'settings_conversationid_key'").fetchone()[0]
    wait("Dino's database", is_made)
    time.sleep(1)
    process.terminate()
    process.wait()
    draw = random.Random(1)
    # Old enough to have no age in minutes, which would change.
    now = int(time.time()) - 3 * DAY
    with sqlite3.connect(database) as store:
        store.execute("INSERT INTO account (id, bare_jid, resourcepart, password, enabled) "
                      "VALUES (1, 'bench@localhost', 'dino', 'password', 1)")
        for key, value in zip(("window_width", "window_height"), SIZE):
            store.execute("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (key, str(value)))
        for room in range(1, ROOMS + 1):
            store.execute("INSERT INTO jid (id, bare_jid) VALUES (?, ?)", (room, contact(room)))
            store.execute("INSERT INTO roster VALUES (1, ?, ?, 'both')", (contact(room), f"Room {room}"))
            count = MESSAGES if room == 1 else OTHERS
            item = 0
            for number in range(count):
                said = now - 60 * room - (count - number)
                text = " ".join(draw.choices(WORDS, k=draw.randint(1, 30))).capitalize() + f". ({number})"
                sent = draw.random() < 0.33
                message = store.execute(
                    "INSERT INTO message (account_id, counterpart_id, counterpart_resource, our_resource, direction, type, time, "
                    "local_time, body, encryption, marked, stanza_id) VALUES (1, ?, 'x', 'dino', ?, 1, ?, ?, ?, 0, ?, ?)",
                    (room, sent, said, said, text, 1 if sent else 2, f"{room}-{number}")).lastrowid
                item = store.execute("INSERT INTO content_item (conversation_id, time, local_time, content_type, foreign_id) "
                                     "VALUES (?, ?, ?, 1, ?)", (room, said, said, message)).lastrowid
            store.execute(
                "INSERT INTO conversation (id, account_id, jid_id, active, active_last_changed, last_active, type, encryption, "
                "read_up_to_item, notification, send_typing, send_marker) VALUES (?, 1, ?, 1, ?, ?, 0, 0, ?, 0, 0, 0)",
                (room, room, now - 60 * room, now - 60 * room, item))


def contact(number):
    return f"room{number}@localhost"
