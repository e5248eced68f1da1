// The editor by CodeMirror 5, which editor.js has loaded as a plain script.

import {make, sentence} from "/learn/dom.js";

const {CodeMirror} = globalThis;
const cudaWords = ("__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ " +
    "__syncthreads __syncwarp __shfl_sync __shfl_down_sync __shfl_up_sync __shfl_xor_sync __ballot_sync __threadfence " +
    "threadIdx blockIdx blockDim gridDim warpSize atomicAdd atomicCAS atomicMax atomicMin atomicExch cudaMalloc " +
    "cudaMemcpy cudaFree cudaMemset cudaDeviceSynchronize cudaGetLastError cudaMallocManaged cudaMemcpyAsync " +
    "cudaStreamCreate cudaStreamSynchronize").split(" ");

function cudaMode() {
    const cpp = CodeMirror.resolveMode("text/x-c++src");
    return {...cpp, builtin: {...cpp.builtin, ...Object.fromEntries(cudaWords.map((word) => [word, true]))}};
}

function markElement(mark) {
    return make("div", {class: "mark"},
        make("div", {class: "mark-headline"}, sentence(mark.headline)),
        mark.explanation ? make("div", {class: "mark-text"}, sentence(mark.explanation)) : null);
}

export function create(options) {
    const element = make("div", {class: "editor"});
    const editor = CodeMirror(element, {
        value: "",
        mode: cudaMode(),
        theme: "heddle",
        lineNumbers: true,
        lineWrapping: true,
        matchBrackets: true,
        indentUnit: 4,
        tabSize: 4,
        gutters: ["marks", "CodeMirror-linenumbers"],
        screenReaderLabel: options.label,
        // Tab indents, so there has to be another way out for those who use the keyboard alone: Escape, then Tab.
        extraKeys: {
            "Tab": (at) => at.somethingSelected() ? at.indentSelection("add")
                : at.replaceSelection(" ".repeat(4 - at.getCursor().ch % 4), "end"),
            "Shift-Tab": "indentLess",
            "Esc": (at) => {
                const leave = {"Tab": false, "Shift-Tab": false};
                at.addKeyMap(leave);
                at.on("blur", function back() {
                    at.removeKeyMap(leave);
                    at.off("blur", back);
                });
            },
            "Ctrl-S": () => options.saved(),
            "Cmd-S": () => options.saved(),
        },
    });
    let shown = []; // what has to go before the next marks

    // The rest of a long line stands as deep as the line itself.
    editor.on("renderLine", (at, line, element) => {
        const deep = CodeMirror.countColumn(line.text.match(/^\s*/)[0], null, at.getOption("tabSize")) * at.defaultCharWidth();
        element.style.textIndent = `-${deep}px`;
        element.style.paddingLeft = `${4 + deep}px`;
    });
    // As tall as its text, and a line for the next; learn.css has the limits.
    let fitted = 0;
    function fit() {
        const height = Math.ceil(editor.heightAtLine(editor.lineCount(), "local") + 1.5 * editor.defaultTextHeight());
        if (height === fitted) return;
        fitted = height;
        element.style.setProperty("--text-height", `${height}px`);
        editor.refresh();
    }
    editor.on("update", () => requestAnimationFrame(fit)); // wrapped lines and marks are measured once they are drawn
    editor.refresh();
    editor.on("change", (_, change) => {
        fit();
        if (change.origin !== "setValue") options.changed();
    });

    function setMarks(marks) {
        const top = editor.getScrollInfo().top;
        editor.operation(() => {
            for (const remove of shown) remove();
            editor.clearGutter("marks");
            shown = [];
            for (const mark of marks) {
                const line = mark.line - 1;
                if (line < 0 || line >= editor.lineCount()) continue;
                const handle = editor.addLineClass(line, "background", mark.main ? "marked-main" : "marked");
                shown.push(() => editor.removeLineClass(handle, "background", mark.main ? "marked-main" : "marked"));
                editor.setGutterMarker(line, "marks", make("span", {class: mark.main ? "dot main" : "dot",
                    title: mark.headline, role: "img", "aria-label": mark.headline}));
                if (!mark.main) continue;
                const widget = editor.addLineWidget(line, markElement(mark), {coverGutter: false, noHScroll: true});
                shown.push(() => widget.clear());
            }
        });
        fit();
        editor.scrollTo(null, top);
    }

    return {
        element,
        text: () => editor.getValue(),
        setText(text) {
            const cursor = editor.getCursor(), scroll = editor.getScrollInfo();
            editor.setValue(text);
            editor.setCursor(cursor, null, {scroll: false});
            editor.scrollTo(scroll.left, scroll.top);
        },
        setMarks,
        show(line) {
            editor.focus();
            editor.setCursor({line: line - 1, ch: 0});
            editor.scrollIntoView({line: line - 1, ch: 0}, 80);
        },
        focus: () => editor.focus(),
        refresh: () => editor.refresh(),
        setReadOnly: (flag) => editor.setOption("readOnly", flag),
    };
}
