// Every mechanism, for programs that do not mind their size.

import type { Mechanism } from "./core/mechanism.js";
import { blh } from "./mechanisms/blh.js";
import { clh } from "./mechanisms/clh.js";
import { cms } from "./mechanisms/cms.js";
import { csr } from "./mechanisms/csr.js";
import { design } from "./mechanisms/design.js";
import { flh } from "./mechanisms/flh.js";
import { grr } from "./mechanisms/grr.js";
import { hcms } from "./mechanisms/hcms.js";
import { hpgr } from "./mechanisms/hpgr.js";
import { hr } from "./mechanisms/hr.js";
import { matrix } from "./mechanisms/matrix.js";
import { mss } from "./mechanisms/mss.js";
import { olh } from "./mechanisms/olh.js";
import { orappor } from "./mechanisms/orappor.js";
import { orr } from "./mechanisms/orr.js";
import { oue } from "./mechanisms/oue.js";
import { pgr } from "./mechanisms/pgr.js";
import { rhr } from "./mechanisms/rhr.js";
import { she } from "./mechanisms/she.js";
import { ss } from "./mechanisms/ss.js";
import { sue } from "./mechanisms/sue.js";
import { the } from "./mechanisms/the.js";

/** Every mechanism of the Python package. */
export const all: readonly Mechanism[] = [
  blh,
  clh,
  cms,
  csr,
  design,
  flh,
  grr,
  hcms,
  hpgr,
  hr,
  matrix,
  mss,
  olh,
  orappor,
  orr,
  oue,
  pgr,
  rhr,
  she,
  ss,
  sue,
  the,
];
