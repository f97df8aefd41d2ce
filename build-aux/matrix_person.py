"""What people do with Parlance and an account: signing in, setting up encryption, rooms; and what the homeserver says of it.
For check-conversation, check-encryption and check-trust.
"""
import json
import os
import re
import time
import urllib.parse
import urllib.request

from window_person import fail, wait

# In groups of four, as the dialog shows it.
RECOVERY_KEY = re.compile(r"Es[A-Za-z0-9]{2}(?: [A-Za-z0-9]{4}){10,}(?: [A-Za-z0-9]{1,4})?")


def call(server, method, path, body=None, token=None):
    request = urllib.request.Request(server + "/_matrix/client/v3/" + path, method=method)
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", "Bearer " + token)
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=30) as answer:
        return json.load(answer)


def new_mark():
    """For the names of users: the scripts run beside each other, over the same homeserver."""
    return f"{int(time.time())}-{os.getpid()}"


def register(server, name, shown=None):
    answer = call(server, "POST", "register", {
        "username": name, "password": "correct horse", "auth": {"type": "m.login.dummy"}})
    call(server, "PUT", f"profile/{answer['user_id']}/displayname",
         {"displayname": shown or name.split("-")[0].capitalize()}, answer["access_token"])
    return answer["user_id"], answer["access_token"]


def expect(what, found, wanted):
    if found != wanted:
        fail(f"{what}: {found} in place of {wanted}")


def go_to(person, key, name):
    """Presses a key until the focus is on what is called so."""
    def is_there():
        before = person.focused()
        if any(found.name.startswith(name) for found in before):
            return True
        person.press(key)
        # By their paths: a row and the switch in it have one name.
        person.sees_change(lambda: [found.path for found in person.focused()], [found.path for found in before])
    wait(f"the focus of {person.user} on '{name}'", is_there, resting=False)


def sign_in(person, server, user, keyring, password="correct horse", in_file=False):
    """From the menu of what is new to the first rooms, with the keyboard alone."""
    person.in_composer()
    go_to(person, "Tab", "New Room or Chat")
    person.press("Return")
    go_to(person, "Down", "Add Account…")
    person.press("Return")
    person.sees("Sign In to Matrix")
    person.type(server)
    person.press("Return")
    person.sees("Your account on " + urllib.parse.urlsplit(server).netloc)
    person.type(user)
    person.press("Return")
    person.type("wrong")
    person.press("Return")
    person.sees("Incorrect username or password")
    person.press("ctrl+a")
    person.private.add(password)
    person.type(password)
    person.press("Return")
    if not keyring:
        person.sees("Keyring Not Available")
        # Kept until the program closes, or in a file.
        person.press("Tab", *["Down"] * in_file, "Return")


def set_up_encryption(person):
    """In the dialog that opens after the first sign-in."""
    person.sees("focus on _Set Up")
    person.press("Return")
    save_recovery_key(person)


def save_recovery_key(person):
    """On the page that shows it.
    Returns: the recovery key, as it was shown."""
    person.sees("I Have Saved the Recovery Key")
    key = wait("the recovery key", lambda: next(
        (name for name in person.names() if RECOVERY_KEY.fullmatch(name)), None))
    person.private.add(key)
    go_to(person, "Tab", "I Have Saved the Recovery")
    person.press("space")
    go_to(person, "Tab", "_Done")
    person.press("Return")
    person.misses("I Have Saved the Recovery Key")
    return key


def open_room(person, name, shows):
    person.press("ctrl+k")
    person.sees("focus on Switch room")
    person.type(name)
    person.press("Return")
    person.sees(shows)


def open_details(person):
    """Those of the room that is open, from its menu."""
    person.in_composer()
    go_to(person, "Tab", "Room Menu")
    person.press("Return")
    go_to(person, "Down", "Room Details")
    person.press("Return")
    person.sees("Invite")


def open_encryption(person, shows):
    """The page of the preferences."""
    person.in_composer()
    person.press("ctrl+comma")
    show_encryption(person, shows)


def show_encryption(person, shows):
    """The page, in the preferences that are open."""
    person.sees("Run in Background")
    go_to(person, "Tab", "General")
    go_to(person, "Down", "Encryption")
    person.press("space")
    person.sees(shows)


def new_room(person, name, encrypted=False):
    person.press("ctrl+n")
    person.sees("Invite People")
    person.type(name)
    if not encrypted:
        person.press("alt+e")
    person.press("alt+r")
    person.sees(name + ",")
    person.sees("Only you")
    person.misses("Invite People")
    person.in_composer()
