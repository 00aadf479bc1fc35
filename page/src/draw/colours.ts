// Colours and shapes of flows, and the two themes. A flow is told by colour and by shape, never by one alone.

/** What a picture is coloured with besides the flows. */
export interface Theme {
  dark: boolean;
  paper: string;
  lane: string;
  line: string;
  ink: string;
  faint: string;
  accent: string;
  alarm: string;
}

export const LIGHT: Theme = {
  dark: false,
  paper: "#ffffff",
  lane: "#f3f5f8",
  line: "#c9d0da",
  ink: "#1b2430",
  faint: "#566273",
  accent: "#0b57d0",
  alarm: "#b3261e",
};

export const DARK: Theme = {
  dark: true,
  paper: "#171c24",
  lane: "#212833",
  line: "#3b4554",
  ink: "#e8edf4",
  faint: "#a3afbf",
  accent: "#8ab4f8",
  alarm: "#ff8a80",
};

/** The palette of Okabe and Ito (2008), which readers with colour-blindness can tell apart. */
const FLOWS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#8a8f98"];
/** Blue and grey are too dark on a dark page. */
const FLOWS_DARK = ["#3d9fe0", "#e69f00", "#1fbf92", "#d991b9", "#f0772b", "#7cc7f2", "#f0e442", "#a5abb5"];

export function flowColour(flow: number, theme: Theme): string {
  const palette = theme.dark ? FLOWS_DARK : FLOWS;
  return palette[flow % palette.length] ?? theme.ink;
}

/** Ink that is read on a flow's colour: of black and white the one of greater contrast. */
export function inkOn(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(colour.slice(at, at + 2), 16) / 255),
  );
  const light = 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
  return light > 0.18 ? "#10151c" : "#ffffff";
}

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

const SHAPES: ((x: number, y: number, r: number) => string)[] = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (x, y, r) => polygon(x, y, r * 1.15, 4, 45),
  (x, y, r) => polygon(x, y + r * 0.2, r * 1.2, 3, -90),
  (x, y, r) => polygon(x, y, r * 1.2, 4, 0),
  (x, y, r) => polygon(x, y - r * 0.2, r * 1.2, 3, 90),
  (x, y, r) => polygon(x, y, r * 1.1, 6, 0),
  (x, y, r) => `M${x - r} ${y - r * 0.5}h${2 * r}v${r}h${-2 * r}Z`,
  (x, y, r) => star(x, y, r * 1.2),
];

/** The shape of a flow as a path; flows beyond the palette have their colour's next shape. */
export function flowShape(flow: number, x: number, y: number, radius: number): string {
  const round = Math.floor(flow / FLOWS.length);
  const shape = SHAPES[(flow + round) % SHAPES.length] ?? SHAPES[0];
  return shape?.(x, y, radius) ?? "";
}

function polygon(x: number, y: number, radius: number, corners: number, turn: number): string {
  const points = Array.from({ length: corners }, (_, at) =>
    corner(x, y, radius, turn + (360 * at) / corners),
  );
  return `M${points.join("L")}Z`;
}

function star(x: number, y: number, radius: number): string {
  const points = Array.from({ length: 10 }, (_, at) =>
    corner(x, y, at % 2 ? radius * 0.45 : radius, 36 * at - 90),
  );
  return `M${points.join("L")}Z`;
}

function corner(x: number, y: number, radius: number, degrees: number): string {
  const angle = (degrees * Math.PI) / 180;
  return `${(x + radius * Math.cos(angle)).toFixed(2)} ${(y + radius * Math.sin(angle)).toFixed(2)}`;
}
