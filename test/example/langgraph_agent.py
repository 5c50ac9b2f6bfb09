"""A graph of LangGraph with tools behind Winnow, over HTTP. Its nodes ask for a plan, ask the person what the plan still
needs, run the plan, and wait for approvals. The state holds what Winnow answers, so a checkpoint has all that happened.

    pip install langgraph httpx
    python langgraph_agent.py http://127.0.0.1:8787 "What is the water level of the Sauer?"
"""

import json
import sys
import uuid
from typing import Any, TypedDict

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    message: str
    history: list[dict[str, str]]  # earlier messages, as {"role", "content"}
    plan: dict[str, Any]  # of the kind "plan", "clarification" (a question back) or "unplannable"
    run: dict[str, Any]  # its "state" is "done", "failed" or "paused", and each of its "steps" has a status and an output


def create_graph(url: str, user: str, checkpointer: Any):
    winnow = httpx.Client(base_url=url, headers={"x-winnow-user": user}, timeout=120)

    def ask(path: str, body: dict, key: str = "") -> dict[str, Any]:
        answer = winnow.post(path, json=body, headers={"idempotency-key": key or str(uuid.uuid4())})
        if answer.is_error:
            raise RuntimeError(f"Winnow answers {answer.status_code}: {answer.json()['detail']}")
        return answer.json()

    def plan(state: State):
        return {"plan": ask("/v1/plan", {"message": state["message"], "history": state.get("history", [])})}

    def ask_person(state: State):
        question = state["plan"]["question"]
        said = [{"role": "user", "content": state["message"]}, {"role": "assistant", "content": question}]
        return {"history": state.get("history", []) + said, "message": interrupt({"question": question})}

    def run(state: State, config: RunnableConfig):
        # LangGraph does a node again whose process has died. With the same keys, Winnow does it once.
        thread = config["configurable"]["thread_id"]
        session = ask("/v1/sessions", {}, f"{thread}-session")["id"]
        tools = sorted({step["tool"] for step in state["plan"]["steps"]})
        ask(f"/v1/sessions/{session}/enable", {"names": tools}, f"{thread}-enable")
        return {"run": ask("/v1/plans/run", {"session": session, "plan": state["plan"]}, f"{thread}-run")}

    def wait(state: State):
        approvals = [step["approval"] for step in state["run"]["steps"].values() if "approval" in step]
        # An operator decides in Winnow's console, or by POST /v1/approvals/ID/grant. Winnow runs no step a second time.
        interrupt({"approvals": approvals})
        return {"run": ask(f"/v1/plans/runs/{state['run']['id']}/resume", {})}

    def after_run(state: State):
        return "wait" if state["run"]["state"] == "paused" else END

    graph = StateGraph(State)
    for node in (plan, ask_person, run, wait):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "plan")
    after_plan = {"plan": "run", "clarification": "ask_person", "unplannable": END}
    graph.add_conditional_edges("plan", lambda state: state["plan"]["kind"], after_plan)
    graph.add_edge("ask_person", "plan")
    graph.add_conditional_edges("run", after_run, ["wait", END])
    graph.add_conditional_edges("wait", after_run, ["wait", END])
    return graph.compile(checkpointer=checkpointer)


if __name__ == "__main__":
    graph = create_graph(sys.argv[1], "ann", InMemorySaver())
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    result = graph.invoke({"message": sys.argv[2]}, config)
    while "__interrupt__" in result:
        print(json.dumps(result["__interrupt__"][0].value), flush=True)
        result = graph.invoke(Command(resume=input()), config)
    print(json.dumps(result["run"]["steps"] if "run" in result else result["plan"]))
