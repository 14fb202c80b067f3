"""Servers that want a sign-in, and their questions to the user."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.tool_servers.conftest import RunRaw
from tests.tool_servers.http_server import HttpToolServer, reply, reply_json
from tui.config.settings_schema import ToolServerSettings
from tui.domain.tool_servers import Answer, AskUser, ServerQuestion, ServerStatus
from tui.storage.connections import SignInFiles
from tui.tool_servers import sign_in
from tui.tool_servers.context import ServerContext, ServerFailed
from tui.tool_servers.server import McpServers


class Authority:
    """A server of tools that wants a sign-in, and the place where one signs in."""

    def __init__(self) -> None:
        self.server = HttpToolServer(self)
        self.origin = self.server.url.removesuffix("/mcp")
        self.valid = self.scope = ""
        self.grants: list[dict[str, Any]] = []
        self.registered: list[dict[str, Any]] = []
        self.resource: dict[str, Any] = {}
        self.about: dict[str, Any] = {}

    def __call__(self, handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> bool:
        path = urlsplit(handler.path).path
        if path.endswith("/reg"):
            self.registered.append(message)
            reply_json(handler, {"client_id": f"client-{len(self.registered)}", **message})
        elif path.endswith("/token"):
            self._grant(handler, message)
        elif "oauth-protected-resource" in path:
            about = {"resource": self.server.url, "authorization_servers": [f"{self.origin}/as"]}
            reply_json(handler, {**about, **self.resource})
        elif "oauth-authorization-server" in path:
            paths = ("authorization_endpoint", "token_endpoint", "registration_endpoint")
            places = dict(zip(paths, ("authorize", "token", "reg"), strict=True))
            addresses = {name: f"{self.origin}/as/{path}" for name, path in places.items()}
            reply_json(handler, {"issuer": f"{self.origin}/as", **addresses, **self.about})
        else:
            return self._refuses(handler, message)
        return True

    def _grant(self, handler: BaseHTTPRequestHandler, form: dict[str, Any]) -> None:
        self.grants.append(form)
        if form.get("refresh_token", "again") != "again":
            reply(handler, 400)
            return
        self.valid = f"token-{len(self.grants)}"
        tokens = {"access_token": self.valid, "refresh_token": "again", "scope": "read"}
        reply_json(handler, {**tokens, "token_type": "bearer", "expires_in": 3600})

    def _refuses(self, handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> bool:
        if not self.valid or handler.headers.get("authorization") != f"Bearer {self.valid}":
            reply(handler, 401, www_authenticate="Bearer")
            return True
        if self.scope and message.get("method") == "tools/call":
            challenge = f'Bearer error="insufficient_scope", scope="{self.scope}"'
            self.scope = ""
            reply(handler, 403, www_authenticate=challenge)
            return True
        return False


class User:
    """Signs in at each address, and keeps the questions."""

    def __init__(self) -> None:
        self.questions: list[ServerQuestion] = []
        self.answer: Answer | None = {}

    async def ask(self, question: ServerQuestion) -> Answer | None:
        self.questions.append(question)
        if self.answer is not None:
            await redirect(question, code="code")
        return self.answer


async def redirect(question: ServerQuestion, **found: str) -> str:
    """Go where the browser is sent after signing in; gives the page there."""
    asked = {name: each[0] for name, each in parse_qs(urlsplit(question.address).query).items()}
    query = {"state": asked["state"], **found}
    got = await asyncio.to_thread(httpx2.get, asked["redirect_uri"], params=query, trust_env=False)
    return f"{got.status_code} {got.text}"


@pytest.fixture
def authority() -> Generator[Authority]:
    it = Authority()
    with it.server:
        yield it


@pytest.fixture
def files(tmp_path: Path) -> SignInFiles:
    return SignInFiles(tmp_path)


Reach = Callable[..., AbstractAsyncContextManager[McpServers]]


@pytest.fixture
def reach(authority: Authority, files: SignInFiles) -> Reach:
    """The program's servers: the one of the authority; ``user`` may be asked at the start."""

    @asynccontextmanager
    async def reached(
        user: User | None = None,
        *,
        ask: AskUser | None = None,
        at_start: bool = True,
        **settings: Any,
    ) -> AsyncGenerator[McpServers]:
        web = ToolServerSettings(**{"url": authority.server.url, **settings})
        asks = user.ask if user else ask
        servers = McpServers({"web": web}, files, asks, at_start=at_start and asks is not None)
        try:
            yield servers
        finally:
            await servers.close()

    return reached


async def started(servers: McpServers) -> ServerStatus:
    return (await servers.start())[0]


async def test_who_signs_in_once_need_not_again_and_tokens_are_private(
    authority: Authority, reach: Reach, tmp_path: Path
):
    user = User()
    async with reach(user) as servers:
        status = await started(servers)
        result = await servers.call(status.tools[0], {"a": 1})
    async with reach(user) as servers:
        again = await started(servers)
    assert (status.state, result.text, again.state) == ("ready", '{"a": 1}', "ready")
    (question,) = user.questions
    assert (question.kind, question.server) == ("sign-in", "web")
    assert question.address.startswith(f"{authority.origin}/as/authorize?")
    (grant,) = authority.grants
    assert grant["code"] == "code"
    assert (tmp_path / "web.json").stat().st_mode & 0o777 == 0o600


async def test_where_nobody_can_be_asked_it_says_how_to_sign_in(authority: Authority, reach: Reach):
    async with reach() as servers:
        status = await started(servers)
    assert (status.state, status.reason) == ("failed", f"{sign_in.WANTED}.")
    assert not authority.registered


async def test_a_start_that_nobody_waits_for_asks_nothing_and_a_restart_does(reach: Reach):
    user = User()
    async with reach(user, at_start=False) as servers:
        first = await started(servers)
        asked = len(user.questions)
        second = await servers.restart("web")
    assert (first.state, asked, second.state) == ("failed", 0, "ready")


async def test_a_refused_sign_in_is_not_asked_about_again_until_the_user_restarts(reach: Reach):
    user = User()
    user.answer = None
    async with reach(user) as servers:
        status = await started(servers)
        await servers.start()
        asked = len(user.questions)
        user.answer = {}
        after = await servers.restart("web")
    assert (status.state, asked, after.state) == ("failed", 1, "ready")
    assert "not signed in" in status.reason


async def test_a_redirect_with_another_state_counts_for_nothing(reach: Reach):
    pages: list[str] = []

    async def ask(question: ServerQuestion) -> Answer | None:
        pages.append(await redirect(question, code="bad", state="forged"))
        pages.append(await redirect(question, error="access_denied"))
        return {}

    async with reach(ask=ask) as servers:
        status = await started(servers)
    assert [page.split()[0] for page in pages] == ["404"]
    assert "refused the sign-in (access_denied)" in status.reason


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint"])
async def test_an_address_without_https_is_told_nothing(
    authority: Authority, reach: Reach, name: str
):
    authority.about = {name: "http://example.org/as"}
    user = User()
    async with reach(user) as servers:
        status = await started(servers)
    assert "at example.org, which is not https" in status.reason
    assert not authority.grants
    assert len(user.questions) == (name == "token_endpoint")


async def test_nobody_signs_in_at_a_server_whose_tokens_all_could_read(files: SignInFiles):
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.host == "tools.example":
            challenge = 'Bearer resource_metadata="https://login.example/about"'
            return httpx2.Response(401, headers={"www-authenticate": challenge})
        about: dict[str, Any] = {
            "resource": "http://tools.example/mcp",
            "authorization_servers": ["https://login.example"],
            "issuer": "https://login.example",
            "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": "https://login.example/token",
            "registration_endpoint": "https://login.example/register",
            "client_id": "client",
            "redirect_uris": ["http://127.0.0.1/callback"],
        }
        body = httpx2.ByteStream(json.dumps(about).encode())
        return httpx2.Response(201 if request.method == "POST" else 200, stream=body)

    user = User()
    user.answer = None
    settings = ToolServerSettings(url="http://tools.example/mcp")
    context = ServerContext("web", settings, user.ask, files, may_sign_in=True)
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as sender:
        signed_in = sign_in.SignIn(sender, context, files)
        with pytest.raises(ServerFailed, match=r"at tools\.example, which is not https"):
            await signed_in.send(sender.build_request("POST", settings.url or ""))
    assert user.questions == []


async def test_a_description_of_another_server_is_refused(authority: Authority, reach: Reach):
    authority.resource = {"resource": "https://elsewhere.example/mcp"}
    user = User()
    async with reach(user) as servers:
        status = await started(servers)
    assert (status.state, user.questions) == ("failed", [])
    assert "elsewhere.example" in status.reason


async def test_tokens_are_renewed_without_the_user_also_after_a_restart(
    authority: Authority, reach: Reach
):
    user = User()
    async with reach(user) as servers:
        tool = (await started(servers)).tools[0]
        authority.valid = "expired"
        result = await servers.call(tool, {})
    authority.valid = "expired"
    async with reach() as servers:
        status = await started(servers)
    assert (result.failed, status.state, len(user.questions)) == (False, "ready", 1)
    kinds = [grant["grant_type"] for grant in authority.grants]
    assert kinds == ["authorization_code", "refresh_token", "refresh_token"]


async def test_a_call_that_needs_more_asks_for_it(authority: Authority, reach: Reach):
    user = User()
    async with reach(user) as servers:
        tool = (await started(servers)).tools[0]
        authority.scope = "write"
        result = await servers.call(tool, {})
    assert not result.failed
    scopes = [parse_qs(urlsplit(each.address).query).get("scope") for each in user.questions]
    assert scopes == [None, ["read write"]]


async def test_a_client_of_the_users_own_is_not_registered(authority: Authority, reach: Reach):
    async with reach(User(), client_id="mine", client_secret="its secret") as servers:
        status = await started(servers)
    assert (status.state, authority.registered) == ("ready", [])
    (grant,) = authority.grants
    assert grant["client_id"] == "mine"
    tokens = [headers for _, headers, form in authority.server.requests if form == grant]
    expected = base64.b64encode(b"mine:its%20secret").decode()
    assert [headers["authorization"] for headers in tokens] == [f"Basic {expected}"]


async def test_a_sign_in_is_for_its_address_alone(authority: Authority, reach: Reach):
    async with reach(User()) as servers:
        await started(servers)
    before = len(authority.server.requests)
    async with reach(url=f"{authority.origin}/other") as servers:
        status = await started(servers)
    later = authority.server.requests[before:]
    assert status.state == "failed"
    assert not any("authorization" in headers for _, headers, _ in later)


async def test_tokens_that_others_could_read_are_not_used_and_signing_in_replaces_them(
    reach: Reach, tmp_path: Path
):
    user = User()
    async with reach(user) as servers:
        await started(servers)
    (tmp_path / "web.json").chmod(0o644)
    async with reach(user, at_start=False) as servers:
        status = await started(servers)
        asked = len(user.questions)
        again = await servers.restart("web")
    assert (status.state, asked, again.state) == ("failed", 1, "ready")
    assert "other users" in status.reason
    assert (tmp_path / "web.json").stat().st_mode & 0o777 == 0o600


async def test_a_forgotten_sign_in_is_wanted_again(reach: Reach, files: SignInFiles):
    user = User()
    async with reach(user) as servers:
        await started(servers)
        await servers.forget_sign_in("web")
        forgotten = files.read("web")
        stopped = servers.statuses()[0].state
        await servers.restart("web")
    assert (forgotten, stopped, len(user.questions)) == ({}, "stopped", 2)


async def test_a_sign_in_that_nobody_finishes_ends(reach: Reach, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sign_in, "SIGN_IN_SECONDS", 0.1)
    withdrawn: list[bool] = []

    async def ask(_: ServerQuestion) -> Answer | None:
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.append(True)

    async with reach(ask=ask) as servers:
        status = await started(servers)
    assert "Nobody signed in" in status.reason
    assert withdrawn == [True]


async def test_several_requests_sign_in_once(authority: Authority, reach: Reach):
    user = User()
    async with reach(user) as servers:
        tool = (await started(servers)).tools[0]
        authority.valid = "expired"
        results = await asyncio.gather(*(servers.call(tool, {}) for _ in range(3)))
    assert not any(result.failed for result in results)
    assert (len(user.questions), len(authority.grants)) == (1, 2)


# --- questions while a call runs

FORM = {
    "message": "Name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


async def asked(run: RunRaw, ask: AskUser | None, times: int = 1, **settings: Any) -> Any:
    async with run(settings, ask) as raw:
        await raw.start()
        result = await raw.call("ask", method="elicitation/create", params=FORM, times=times)
        return json.loads(result.text) if not result.failed else result.text


async def test_a_form_is_answered_or_refused_and_a_call_has_time_meanwhile(raw_server: RunRaw):
    async def accept(_: ServerQuestion) -> Answer | None:
        await asyncio.sleep(0.5)
        return {"name": "Anna"}

    async def decline(_: ServerQuestion) -> Answer | None:
        return None

    accepted = {"action": "accept", "content": {"name": "Anna"}}
    assert await asked(raw_server, accept, timeout=0.3) == accepted
    assert await asked(raw_server, decline) == {"action": "decline"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "Pay first.\nThe user agreed to open {}: call again once it is done."),
        (None, "Pay first.\nThe user did not open {}"),
    ],
)
async def test_an_address_that_a_call_needs_opened_is_put_to_the_user(
    raw_server: RunRaw, answer: Answer | None, said: str
):
    questions: list[ServerQuestion] = []

    async def ask(question: ServerQuestion) -> Answer | None:
        questions.append(question)
        return answer

    address = "https://pay.example/1"
    wanted = {"mode": "url", "message": "Pay", "url": address, "elicitationId": "1"}
    async with raw_server({}, ask) as raw:
        await raw.start()
        data = {"elicitations": [wanted]}
        result = await raw.call("error", message="Pay first.", code=-32042, data=data)
        odd = await raw.call("error", message="Pay first.", code=-32042, data=[])
    assert [(each.message, each.address) for each in questions] == [("Pay", address)]
    assert (result.failed, result.text) == (True, said.format(address))
    assert odd.text == "Pay first.\nIts address cannot be read."


async def test_a_server_that_asks_without_end_is_answered_without_the_user(raw_server: RunRaw):
    questions: list[ServerQuestion] = []

    async def ask(question: ServerQuestion) -> Answer | None:
        questions.append(question)
        return None

    answers = await asked(raw_server, ask, times=300)
    assert len(questions) == 10
    assert answers.count({"action": "cancel"}) == 290
