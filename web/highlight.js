// Colours for C, C++ and CUDA, and for commands in a terminal. Works on text; nothing is parsed as HTML.

const words = (text) => new Set(text.split(" "));
const keywords = words("alignas alignof asm auto break case catch class const constexpr const_cast continue decltype " +
    "default delete do dynamic_cast else enum explicit extern false for friend goto if inline mutable namespace new " +
    "noexcept nullptr operator private protected public register reinterpret_cast restrict return sizeof static " +
    "static_assert static_cast struct switch template this throw true try typedef typeid typename union using virtual " +
    "volatile while NULL");
const types = words("bool char double float int long short signed size_t ssize_t unsigned void wchar_t int8_t int16_t " +
    "int32_t int64_t uint8_t uint16_t uint32_t uint64_t half float2 float4 int2 int4 uint2 uint4 double2 dim3 FILE");
const cuda = words("threadIdx blockIdx blockDim gridDim warpSize");

const pattern = new RegExp([
    String.raw`(?<comment>\/\/[^\n]*|\/\*[^]*?(?:\*\/|$(?![^])))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)`,
    String.raw`(?<directive>^[ \t]*#[ \t]*\w+)`,
    String.raw`(?<number>\b(?:0[xX][0-9a-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)[uUlLfF]*)`,
    String.raw`(?<word>[A-Za-z_]\w*)`,
    String.raw`(?<launch><<<|>>>)`,
].join("|"), "gm");

function kindOfWord(word) {
    if (keywords.has(word)) return "keyword";
    if (types.has(word)) return "type";
    if (cuda.has(word) || /^(__\w+|cuda[A-Z]\w*|atomic[A-Z]\w*|cublas\w+|cudnn\w+)$/.test(word)) return "cuda";
    return "";
}

// The text as [kind, text] pairs; kind "": nothing special.
export function tokens(text) {
    const found = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
        const groups = match.groups;
        const kind = groups.comment ? "comment" : groups.string ? "string" : groups.directive ? "directive"
            : groups.number ? "number" : groups.launch ? "cuda" : kindOfWord(match[0]);
        if (!kind) continue;
        if (match.index > end) found.push(["", text.slice(end, match.index)]);
        found.push([kind, match[0]]);
        end = match.index + match[0].length;
    }
    if (end < text.length) found.push(["", text.slice(end)]);
    return found;
}

// The text as nodes.
export function coloured(text) {
    const all = document.createDocumentFragment();
    for (const [kind, part] of tokens(text)) {
        if (!kind) {
            all.append(part);
            continue;
        }
        const span = document.createElement("span");
        span.className = `code-${kind}`;
        span.textContent = part;
        all.append(span);
    }
    return all;
}

function colouredConsole(text) {
    const all = document.createDocumentFragment();
    for (const line of text.split(/(?<=\n)/)) {
        if (!line.startsWith("$ ")) {
            all.append(line);
            continue;
        }
        const command = document.createElement("b");
        command.textContent = line;
        all.append(command);
    }
    return all;
}

// Colours every block of code inside an element.
export function highlightBlocks(root) {
    for (const code of root.querySelectorAll("pre > code[class*='language-']")) {
        const language = /language-(\w+)/.exec(code.className)[1];
        const text = code.textContent;
        if (["c", "cpp", "cuda"].includes(language)) code.replaceChildren(coloured(text));
        if (language === "console") code.replaceChildren(colouredConsole(text));
    }
}
