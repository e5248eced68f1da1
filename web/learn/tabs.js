// Tabs, by mouse and by arrow keys. show(name) brings one to the front.

import {make} from "/learn/dom.js";

// panes: [{name, label, element, shown}]; shown() is called each time the pane comes to the front.
export function createTabs(label, panes) {
    const list = make("div", {class: "tabs", role: "tablist", "aria-label": label});
    const buttons = panes.map((pane) => make("button", {type: "button", role: "tab", id: `tab-${pane.name}`,
        "aria-controls": `pane-${pane.name}`, on: {click: () => show(pane.name)}}, pane.label));
    const holders = panes.map((pane) => make("div", {class: "pane", role: "tabpanel", id: `pane-${pane.name}`,
        "aria-labelledby": `tab-${pane.name}`, tabindex: "0"}, pane.element));

    function show(name) {
        panes.forEach((pane, index) => {
            const front = pane.name === name;
            buttons[index].setAttribute("aria-selected", String(front));
            buttons[index].tabIndex = front ? 0 : -1;
            holders[index].hidden = !front;
            if (front) pane.shown?.();
        });
    }

    list.addEventListener("keydown", (event) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!step) return;
        event.preventDefault();
        const at = buttons.indexOf(document.activeElement);
        const next = (at + step + buttons.length) % buttons.length;
        show(panes[next].name);
        buttons[next].focus();
    });
    list.append(...buttons);
    return {list, holders, show, button: (name) => buttons[panes.findIndex((pane) => pane.name === name)]};
}
