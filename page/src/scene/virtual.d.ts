declare module "virtual:scenes" {
  export const scenes: readonly import("./types").Scene[];
}
