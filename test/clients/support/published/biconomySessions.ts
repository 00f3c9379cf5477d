import type { Hex } from 'viem'
import { openWithSessions } from '../biconomySessions.js'
import { placeSessionModules, sessionModules } from '../placeSessionModules.js'
import { readCheckout } from './checkouts.js'
import { permissionlessFamily } from './permissionlessFamily.js'
import { placePublished } from './placePublished.js'
import type { PublishedContract } from './publishedContract.js'
import type { PublishedFamily } from './publishedFamily.js'

function contracts(): readonly PublishedContract[] {
  const source = readCheckout('aa-benchmarks', 'test/artifacts/biconomyV2.ts')
  return Object.entries(sessionModules).map(([name, address]) => {
    const declaration = new RegExp(`address: "${address}"[^]+?bytecode:\\s+"(0x[0-9a-f]+)"`)
    const [, runtime] = declaration.exec(source) ?? []
    if (runtime === undefined) throw new Error(`biconomyV2.ts has no ${address}.`)
    return { name, address, client: undefined, origin: { runtime: runtime as Hex } }
  })
}

/** Biconomy V2 with the session modules of public chains, as Alchemy's benchmarks have their code. */
export const biconomySessions: PublishedFamily = {
  name: 'Biconomy V2 with session keys',
  checkouts: ['aa-benchmarks', 'permissionless.js'],
  contracts,
  place: async (info) => {
    await permissionlessFamily.place(info)
    await placePublished(info.rpcUrl, contracts())
    await placeSessionModules(info.rpcUrl)
  },
  kinds: (info) =>
    (['single', 'batched'] as const).map((sessions) => ({
      name: `Biconomy V2, ${sessions} session keys, as published`,
      version: '0.6',
      open: (seed) => openWithSessions(info(), seed, sessions),
    })),
}
