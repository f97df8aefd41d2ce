"""A module of Synapse for tests: ends sessions as a server does that lets them expire.

POST /_parlance/expire with {"user": "@name:server"}: the user's tokens are out of date from now on, which is told as a
soft log-out. Whoever asks is believed: for a server on this computer alone.
"""
from synapse.module_api import DirectServeJsonResource, ModuleApi, parse_json_object_from_request


class Expiry(DirectServeJsonResource):
    isLeaf = True

    def __init__(self, config: dict, api: ModuleApi):
        super().__init__(clock=api._hs.get_clock())
        self.store = api._hs.get_datastores().main
        api.register_web_resource("/_parlance/expire", self)

    @staticmethod
    def parse_config(config: dict) -> dict:
        return config

    async def _async_render_POST(self, request) -> tuple[int, dict]:
        user = parse_json_object_from_request(request)["user"]
        await self.store.db_pool.simple_update(
            "access_tokens", {"user_id": user}, {"valid_until_ms": 1}, desc="parlance_expire"
        )
        self.store.get_user_by_access_token.invalidate_all()
        return 200, {}
