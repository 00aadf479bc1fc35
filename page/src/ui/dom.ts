// Elements from code. Text is always set as text, never as HTML.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** An element with attributes, listeners (`onclick`) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Sets a text only when it is another one, so that screen readers are not told twice. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

let made = 0;

/** An id that no other element of the page has. */
export function unique(stem: string): string {
  made += 1;
  return `fairq-${stem}-${made}`;
}
