// Making elements without writing HTML.

// make("a", {class: "button", href: "/map", on: {click: go}}, "Map")
export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name === "on") {
            for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
        } else if (value === true) {
            element.setAttribute(name, "");
        } else if (value !== false && value !== null && value !== undefined) {
            element.setAttribute(name, value);
        }
    }
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

// A sentence with `code` in it, as nodes.
export function sentence(text) {
    const all = document.createDocumentFragment();
    text.split(/`([^`\n]+)`/).forEach((part, index) => {
        if (index % 2 === 1) all.append(make("code", {}, part));
        else all.append(part);
    });
    return all;
}

// Said by a screen reader, seen by nobody.
export function announce(text) {
    document.getElementById("announcer").textContent = text;
}
