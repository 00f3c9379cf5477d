import type { DevInfo } from '../../../src/cli/devInfo.js'
import type { AccountFamily } from './accountFamily.js'
import { biconomyFamily } from './biconomyFamily.js'
import { etherspotFamily } from './etherspotFamily.js'
import { kernelFamily } from './kernelFamily.js'
import { metamaskFamily } from './metamaskFamily.js'
import { publishedFamilies } from './published/publishedFamilies.js'
import { safeFamily } from './safeFamily.js'
import { simpleFamily } from './simpleFamily.js'
import { thirdwebFamily } from './thirdwebFamily.js'

/**
 * All account contracts that packages of npm or checkouts of other repositories have, with their clients. What is
 * published comes first, since it takes the place of models.
 */
export const accountFamilies: readonly AccountFamily[] = [
  ...publishedFamilies,
  simpleFamily,
  safeFamily,
  kernelFamily,
  biconomyFamily,
  thirdwebFamily,
  etherspotFamily,
  metamaskFamily,
]

export async function placeFamilies(
  families: readonly AccountFamily[],
  info: DevInfo,
): Promise<void> {
  for (const family of families) await family.place(info)
}
