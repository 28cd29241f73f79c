// Runs ralph's gates when opencode's agent ends a turn, and asks it to continue if they fail: at most three times, and only
// if files changed since the last time. Copy this file into ~/.config/opencode/plugin/ or a project's .opencode/plugin/.
//
// RALPH_STOP_GATE has the arguments of `ralph gate`: a gate's name (all gates if it is not set), or --since REV.
// opencode has no hook that waits at the end of a turn, so the reason comes as the next message of the session.
import { spawn } from "node:child_process";

const GATE = (process.env.RALPH_STOP_GATE ?? "").split(" ").filter(Boolean);

/** Calls the Stop gate with an event. Returns its answer, or {} without one: ralph must not stop a session. */
function callRalph(event) {
  return new Promise((resolve) => {
    const ralph = spawn("ralph", ["gate", ...GATE, "--stop-hook"], {
      cwd: event.cwd,
      stdio: ["pipe", "pipe", "ignore"],
    });
    let text = "";
    ralph.stdout.on("data", (data) => (text += data));
    ralph.stdin.on("error", () => {});
    ralph.on("error", () => resolve({}));
    ralph.on("close", () => {
      try {
        resolve(JSON.parse(text));
      } catch {
        resolve({});
      }
    });
    ralph.stdin.end(JSON.stringify(event));
  });
}

export const RalphGate = async ({ client, directory }) => {
  // By session: the turns that a person began, and the state of the newest one.
  const sessions = new Map();
  const sessionOf = (id) => {
    if (!sessions.has(id)) sessions.set(id, { turn: 0, isBlocked: false, isBroken: false, isJudged: false, isOwn: false });
    return sessions.get(id);
  };
  const isSubagent = async (id) => Boolean((await client.session.get({ path: { id } })).data?.parentID);
  const call = (name, id) =>
    callRalph({ hook_event_name: name, session_id: id, cwd: directory, stop_hook_active: sessionOf(id).isBlocked });

  async function endTurn(id) {
    const session = sessionOf(id);
    const { turn } = session;
    session.isJudged = true;
    const answer = await call("Stop", id).finally(() => (session.isJudged = false));
    // A person who wrote meanwhile has the next word.
    if (session.turn !== turn) return;
    if (answer.decision === "block") {
      session.isBlocked = session.isOwn = true;
      const body = { parts: [{ type: "text", text: answer.reason }] };
      await client.session.prompt({ path: { id }, body });
    } else if (answer.systemMessage) {
      await client.tui.showToast({ body: { message: answer.systemMessage, variant: "info" } });
    }
  }

  return {
    "chat.message": async ({ sessionID: id }) => {
      const session = sessionOf(id);
      // ralph's message begins no turn.
      if (session.isOwn) session.isOwn = false;
      else if (!(await isSubagent(id))) {
        Object.assign(session, { turn: session.turn + 1, isBlocked: false, isBroken: false });
        await call("UserPromptSubmit", id);
      }
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID;
      // A turn that a person or the provider ended is not judged. opencode then says twice that the session is idle.
      if (event.type === "session.error" && id) sessionOf(id).isBroken = true;
      if (event.type !== "session.idle") return;
      const { isBroken, isJudged } = sessionOf(id);
      if (!isBroken && !isJudged && !(await isSubagent(id))) await endTurn(id).catch(() => {});
    },
  };
};
