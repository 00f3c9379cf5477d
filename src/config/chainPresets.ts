import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { chainSchema, type factsSchema } from '../chain/definition/chainDefinition.js'

/** What is known of a public chain, for operators who only name it: a file of `chains/`. */
export type ChainPreset = {
  readonly chainId: number
  readonly name: string
  readonly explorerUrl: string
  /** For readers of the file and of the table in the docs. */
  readonly note?: string
  /**
   * Absent where they are Ethereum's; `calldataFloor` also where it is not known. EIP-7623 is in the rules of Prague, but
   * not everywhere: where it is false, a byte costs 4 or 16 gas whatever is executed.
   */
  readonly facts: z.input<typeof factsSchema>
}

const folder = new URL('chains/', import.meta.url)

/**
 * Public chains by name. All that a chain can answer itself is compared at start: its id, its EntryPoints, its way of
 * charging for data, the gas of its blocks, Linea's tips. Any key of a configured chain, and any of its facts, wins over its preset's.
 */
export const chainPresets: ReadonlyMap<string, ChainPreset> = new Map(
  readdirSync(folder)
    .sort()
    .map((file) => [
      file.slice(0, -'.json'.length),
      JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as ChainPreset,
    ]),
)

/** The configured chain with what its preset adds; anything that names no preset as it is. */
function withPreset(chain: unknown): unknown {
  if (!isRecord(chain)) return chain
  const known = chainPresets.get(String(chain.preset))
  if (known === undefined) return chain
  const { note: _, ...preset } = known
  const facts = chain.facts ?? {}
  return { ...preset, ...chain, facts: isRecord(facts) ? { ...preset.facts, ...facts } : facts }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** One entry of `chains` in the configuration, which may begin with a preset. */
export const chainEntry = z.preprocess(
  withPreset,
  // First, so that a misspelt name is reported before the chainId that it did not give.
  z
    .strictObject({ preset: z.enum([...chainPresets.keys()]).optional(), ...chainSchema.shape })
    .refine(
      ({ preset, chainId }) =>
        preset === undefined || chainPresets.get(preset)?.chainId === chainId,
      { message: 'is not that of the preset: leave it out, or the preset', path: ['chainId'] },
    ),
)
