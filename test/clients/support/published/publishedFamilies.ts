import { biconomySessions } from './biconomySessions.js'
import { absenceOf, isPresent } from './checkouts.js'
import { coinbaseWallet } from './coinbaseWallet.js'
import { modularAccount1, modularAccount2 } from './modularAccount.js'
import { nexus } from './nexus.js'
import { permissionlessFamily } from './permissionlessFamily.js'
import type { PublishedFamily } from './publishedFamily.js'

const families: readonly PublishedFamily[] = [
  permissionlessFamily,
  biconomySessions,
  coinbaseWallet,
  modularAccount1,
  modularAccount2,
  nexus,
]

/** Those whose checkouts are there. */
export const publishedFamilies = families.filter(({ checkouts }) => checkouts.every(isPresent))

/** What did not run, and how it can. */
export const publishedAbsences = families.flatMap(({ name, checkouts }) =>
  checkouts.filter((checkout) => !isPresent(checkout)).map((each) => `${name} ${absenceOf(each)}`),
)
