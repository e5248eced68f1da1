// The progress map: every chapter with its exercises, solved or not.

import {make} from "/learn/dom.js";

function tile(exercise, current) {
    const here = exercise.number === current;
    return make("li", {}, make("a", {
        class: `tile${exercise.solved ? " solved" : ""}${here ? " current" : ""}`,
        href: `/exercise/${exercise.number}`,
        "aria-current": here ? "step" : null,
    },
    make("span", {class: "tile-number"}, exercise.number, exercise.solved ? make("span", {class: "tick"}, " ✓") : null),
    make("span", {class: "tile-title"}, exercise.title),
    make("span", {class: "unseen"}, exercise.solved ? ", solved" : here ? ", you are here" : "")));
}

function chapterBlock(chapter, current) {
    const solved = chapter.exercises.filter((one) => one.solved).length, count = chapter.exercises.length;
    return make("section", {class: "map-chapter"},
        make("h2", {}, make("a", {href: `/read/${chapter.name}`}, chapter.title),
            count > 0 ? make("span", {class: "dim"}, ` ${solved} of ${count}`) : null),
        count > 0 ? make("ul", {class: "tiles"}, ...chapter.exercises.map((one) => tile(one, current))) : null);
}

export function mapView(course) {
    const element = make("div", {class: "map"},
        make("h1", {}, "The course"),
        make("p", {}, `${course.solved} of ${course.count} exercises solved. `,
            course.current ? make("a", {href: `/exercise/${course.current}`}, `Go on with ${course.current}`) : null),
        make("progress", {max: String(course.count), value: String(course.solved), "aria-label": "Exercises solved"}),
        ...course.chapters.map((one) => chapterBlock(one, course.current)),
        make("p", {class: "dim"}, "Your files are in ", make("code", {}, course.folder),
            ". Judging runs your code on this machine, contained as heddle check contains it."));
    return {title: "Map", element};
}
