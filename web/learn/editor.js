// The editor: CodeMirror where the server has it, else a plain one. Both give the same object:
//
//   element, text(), setText(text), setMarks(marks), show(line), focus(), refresh(), setReadOnly(flag)
//
// and call options.changed() after each change and options.saved() on Ctrl-S. A mark is {line, headline, explanation,
// main}: main marks say what is wrong, the others only that the line takes part in it.

function load(tag, attributes) {
    return new Promise((resolve, reject) => {
        const element = Object.assign(document.createElement(tag), attributes, {onload: resolve, onerror: reject});
        document.head.append(element);
    });
}

let codemirror;

async function loadCodeMirror() {
    const folder = "/codemirror";
    await Promise.all([
        load("link", {rel: "stylesheet", href: `${folder}/lib/codemirror.css`}),
        load("script", {src: `${folder}/lib/codemirror.js`}),
    ]);
    await Promise.all(["mode/clike/clike.js", "addon/edit/matchbrackets.js"]
        .map((file) => load("script", {src: `${folder}/${file}`})));
    return import("/learn/editor_codemirror.js");
}

export async function createEditor(hasCodeMirror, options) {
    if (hasCodeMirror) {
        try {
            codemirror ??= loadCodeMirror();
            return (await codemirror).create(options);
        } catch {
            codemirror = undefined; // the plain one will do
        }
    }
    return (await import("/learn/editor_plain.js")).create(options);
}
