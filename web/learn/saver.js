// Keeps the learner's file and the editor in step. A pause in typing saves; a change by another hand appears in the
// editor, or, if the editor has changes of its own, the learner chooses.

import * as api from "/learn/api.js";
import {make} from "/learn/dom.js";

const pause = 250; // milliseconds without a key before the text is saved

export function createSaver(exercise, editor, shown) {
    let version = exercise.version; // of the file as we last knew it
    let kept = "";                  // its text, as the editor has it
    let lineEnd = "\n";             // the editor knows only this one
    let timer = 0, saving = null, again = false;

    const dirty = () => editor.text() !== kept;
    const written = (text) => text.replaceAll("\n", lineEnd);

    // Takes over what the server has: {text, version}, or {problem} where the file cannot be edited here.
    function adopt(state) {
        version = state.version;
        lineEnd = state.text.includes("\r\n") ? "\r\n" : "\n";
        const text = state.text.replaceAll("\r\n", "\n");
        if (editor.text() !== text) editor.setText(text);
        kept = editor.text();
        editor.setReadOnly(Boolean(state.problem));
        shown.notice.replaceChildren(...state.problem ? [make("p", {class: "note warning"}, state.problem)] : []);
    }

    function askWhich(state) {
        const note = make("div", {class: "note warning", role: "alert"},
            make("p", {}, "Your file was changed elsewhere, and you have changed it here."),
            make("button", {type: "button", on: {click: () => adopt(state)}}, "Load the file"), " ",
            make("button", {type: "button", on: {click: () => {
                version = state.version;
                shown.notice.replaceChildren();
                now();
            }}}, "Keep what is here"));
        shown.notice.replaceChildren(note);
    }

    // Returns whether it was saved.
    async function save() {
        const text = editor.text();
        shown.status("Saving …");
        try {
            version = (await api.save(exercise.number, written(text), version)).version;
            kept = text;
            shown.status("Saved");
            return true;
        } catch (failure) {
            shown.status("Not saved");
            if (failure.status === 409 && failure.body.version !== undefined) askWhich(failure.body);
            else shown.notice.replaceChildren(make("p", {class: "note warning", role: "alert"}, failure.message));
            return false;
        }
    }

    function begin(work) {
        saving = work.finally(() => {
            saving = null;
        });
        return saving;
    }

    // One at a time: what is typed meanwhile is saved next.
    async function now() {
        clearTimeout(timer);
        if (saving) {
            again = true;
            return saving;
        }
        await begin(dirty() ? save() : api.judge(exercise.number).catch((failure) => shown.status(failure.message)));
        if (again) {
            again = false;
            if (dirty()) await now();
        }
        return null;
    }

    return {
        adopt,
        now,
        version: () => version,
        say: shown.status,
        changed() {
            clearTimeout(timer);
            timer = setTimeout(() => dirty() && now(), pause);
        },
        async changedElsewhere(fresh) {
            const state = fresh ?? await api.exercise(exercise.number);
            if (state.version === version) return;
            if (dirty()) askWhich(state);
            else adopt(state);
        },
        // Before the learner goes elsewhere: returns whether everything is saved.
        async settle() {
            clearTimeout(timer);
            while (saving || dirty()) {
                if (saving) await saving;
                else if (!await begin(save())) return false;
            }
            return true;
        },
        unsaved: dirty, // also while a save is under way
        // The page is going away: there is no time to wait.
        flush() {
            if (dirty()) api.save(exercise.number, written(editor.text()), version, true).catch(() => {});
        },
    };
}
