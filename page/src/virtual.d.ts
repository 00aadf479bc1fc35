declare module "virtual:simulator" {
  /** The simulator, deflated, in base64. */
  const text: string;
  export default text;
}
declare module "virtual:styles" {
  const text: string;
  export default text;
}
