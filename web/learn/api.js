// Calls of the server's API. A failure is an Error with the status and what the server said.

export class Failure extends Error {
    constructor(status, body) {
        super(body.error || `the server answered ${status}`);
        this.status = status;
        this.body = body;
    }
}

async function call(method, path, body, keepalive = false) {
    let response;
    try {
        response = await fetch(`/v1/learn/${path}`, {
            method,
            keepalive,
            headers: body === undefined ? {} : {"Content-Type": "application/json"},
            body: body === undefined ? undefined : JSON.stringify(body),
        });
    } catch {
        throw new Failure(0, {error: "The server does not answer. Is heddle learn --web still running? " +
            "Start it again and open the new address. Copy your text first."});
    }
    const text = await response.text();
    let json;
    try {
        json = JSON.parse(text);
    } catch {
        json = {error: `the server answered ${response.status}`};
    }
    if (!response.ok) throw new Failure(response.status, json);
    return json;
}

const of = (number) => `exercises/${encodeURIComponent(number)}`;

export const course = () => call("GET", "course");
export const chapter = (name) => call("GET", `chapters/${encodeURIComponent(name)}`);
// What the simulator recorded for the chapter's pictures, by their words.
export const pictures = (name) => fetch(`/course/${encodeURIComponent(name)}/pictures.json`).then((answer) => answer.ok ? answer.json() : {});
export const search = (question) => call("GET", `search?q=${encodeURIComponent(question)}`);
export const exercise = (number) => call("GET", of(number));
export const open = (number) => call("POST", `${of(number)}/open`, {});
export const judge = (number) => call("POST", `${of(number)}/judge`, {});
export const hint = (number) => call("POST", `${of(number)}/hint`, {});
export const reset = (number) => call("POST", `${of(number)}/reset`, {});
export const solution = (number, anyway) => call("GET", `${of(number)}/solution${anyway ? "?anyway=1" : ""}`);
export const trace = (number) => call("GET", `${of(number)}/trace`);
export const save = (number, text, base, keepalive) => call("PUT", `${of(number)}/source`, {text, base}, keepalive);

// What happens on the server, for as long as the page is open: judging, verdict, source; and here, lost and back.
export function listen(handle) {
    const stream = new EventSource("/v1/learn/events");
    let lost = false;
    for (const name of ["judging", "verdict", "source"])
        stream.addEventListener(name, (event) => handle(name, JSON.parse(event.data)));
    stream.onerror = () => {
        if (!lost) handle("lost", {});
        lost = true;
    };
    stream.onopen = () => {
        if (lost) handle("back", {});
        lost = false;
    };
}
