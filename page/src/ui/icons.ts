// Signs of the controls, as drawings: not every system has letters for them.

const WORDS = {
  play: "M7 4l13 8-13 8Z",
  pause: "M6 4h4.5v16H6ZM13.5 4H18v16h-4.5Z",
  step: "M4 5h3v14H4ZM10 5l10 7-10 7Z",
  back: "M17 5h3v14h-3ZM14 5L4 12l10 7Z",
  restart: "M4 5h3v14H4ZM13 5v6l7-6v14l-7-6v6l-6.5-7Z",
};

export type Icon = keyof typeof WORDS;

export function icon(name: Icon): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", WORDS[name]);
  path.setAttribute("fill", "currentColor");
  svg.append(path);
  return svg;
}
