"""A FastAPI service with the parts that a driver looks at."""

import sys

from fastapi import BackgroundTasks, FastAPI, Request

app = FastAPI()
COUNT = {"calls": 0}


@app.get("/")
def root():
    COUNT["calls"] += 1
    return {"calls": COUNT["calls"]}


@app.get("/lock/{n}")
def lock(n: int, request: Request):
    if n == 4711:
        return {"open": True}
    if request.headers.get("x-secret") == "sesame":
        return {"open": "by header"}
    return {"open": False}


@app.get("/fail")
def fail():
    return {}["missing"]


@app.get("/later")
async def later(tasks: BackgroundTasks):
    tasks.add_task(work, 0)
    return {}


def work(n):
    return 1 // n


@app.post("/things")
async def things(request: Request):
    body = await request.json()
    if body.get("name") == "gold":
        return {"found": body["amount"]["grams"]}
    if "token" in request.cookies or request.query_params.get("debug"):
        return {"debug": True}
    return {"found": None}


@app.post("/form")
async def form(request: Request):
    return {"color": (await request.form())["color"]}


def create():
    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
