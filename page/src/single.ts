// The page of one file, `lab.html`, which also opens from a disk.

import { parts } from "./inside";
import { mount } from "./mount";

const place = document.getElementById("fairq-lab");
if (place !== null) mount(place, { hash: true }, parts).catch(() => {});
