import type { DevInfo } from '../../../src/cli/devInfo.js'
import type { AccountFamily } from './accountFamily.js'
import { biconomyFamily } from './biconomyFamily.js'
import { etherspotFamily } from './etherspotFamily.js'
import { kernelFamily } from './kernelFamily.js'
import { metamaskFamily } from './metamaskFamily.js'
import { safeFamily } from './safeFamily.js'
import { simpleFamily } from './simpleFamily.js'
import { thirdwebFamily } from './thirdwebFamily.js'

/** All account contracts that packages of npm have, with their clients. */
export const accountFamilies: readonly AccountFamily[] = [
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
