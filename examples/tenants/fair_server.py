"""A web server that gives its tenants fair shares: a middleware for FastAPI.

uvicorn fair_server:app
curl -H 'X-Tenant: small' 'http://127.0.0.1:8000/work?seconds=0.1'
"""

import asyncio
import os
from contextlib import AsyncExitStack

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

import fairq


class FairShares:
    """A request waits for a seat of its tenant; too many that wait are refused."""

    def __init__(self, app, dispatcher, patience=30):
        self.app, self.dispatcher, self.patience = app, dispatcher, patience

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["path"] == "/metrics":
            return await self.app(scope, receive, send)
        # Behind a proxy that knows its users: a name that a client may choose is worth nothing.
        tenant = dict(scope["headers"]).get(b"x-tenant", b"").decode("latin-1")
        async with AsyncExitStack() as held:
            try:
                await held.enter_async_context(self.dispatcher.seat(tenant, timeout=self.patience))
            except (fairq.RefusedError, TimeoutError) as refused:
                status = 503 if isinstance(refused, TimeoutError) else 429
                return await PlainTextResponse(f"{refused}\n", status)(scope, receive, send)
            return await self.app(scope, receive, send)


app = FastAPI()
dispatcher = fairq.Dispatcher(seats=2, policy=os.environ.get("POLICY", "sfq_d"))
app.add_middleware(FairShares, dispatcher=dispatcher)


@app.get("/work")
async def work(seconds: float = 0.01):
    await asyncio.sleep(seconds)
    return {"slept_s": seconds}


@app.get("/metrics")
async def metrics():
    return PlainTextResponse(dispatcher.metrics())
