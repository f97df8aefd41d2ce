"""What the clients that tests talk to have in common: a JSON array a line, [NAME, ARGUMENT...], is answered with a line
each: {"answer": …} or {"error": …}. NAME is a method of the peer.
"""
import asyncio
import json
import sys


def pattern(size):
    """The bytes of a file that a test sends: byte N is 31 * N."""
    return bytes(31 * number % 256 for number in range(size))


async def serve(peer):
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        name, *arguments = json.loads(line)
        try:
            answer = {"answer": await getattr(peer, name)(*arguments)}
        except Exception as error:  # the test that asked says what is wrong
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
