// Calls of the server's API. A failure is an Error that says what the server said.

export async function call(method, path, body) {
    let response;
    try {
        response = await fetch(`/v1/${path}`, {
            method,
            headers: body === undefined ? {} : {"Content-Type": "application/json"},
            body: body === undefined ? undefined : JSON.stringify(body),
        });
    } catch {
        throw new Error("The server does not answer. Is heddle serve still running? Start it again and open the new address.");
    }
    const text = await response.text();
    let json = {};
    try {
        json = JSON.parse(text);
    } catch {
        json = {error: `the server answered ${response.status}`};
    }
    if (!response.ok) throw new Error(json.error || `the server answered ${response.status}`);
    return json;
}

// Does something that may fail, and shows why it did.
export async function attempt(problem, act) {
    try {
        problem.hidden = true;
        await act();
    } catch (failure) {
        problem.textContent = failure.message;
        problem.hidden = false;
    }
}

// "AAEC" as bytes.
export function bytes(base64) {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

// What happens on the server for as long as the page is open: network, training, evaluation; and here, lost and back.
export function listen(handle) {
    const stream = new EventSource("/v1/events");
    let lost = false;
    for (const name of ["network", "training", "evaluation"])
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

export const percent = (part, digits = 1) => `${(100 * part).toFixed(digits)} %`;
export const count = (number) => Math.round(number).toLocaleString("en");
export const isRunning = (training) => ["starting", "training", "paused", "stopping"].includes(training?.state);
