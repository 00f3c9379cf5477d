import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { forks, rulesByFork } from './forks.js'
import type { GasCosts } from './gasCosts.js'

const src = fileURLToPath(new URL('..', import.meta.url))

/** The tables that hold what gas costs by fork. */
const tables = ['evm/gasCosts.ts', 'evm/forks.ts']

/** The modules that calculate with gas; elsewhere the numbers are milliseconds. */
const modules = ['evm', 'erc4337', 'chain', 'simulation', 'gas', 'paymaster', 'mempool', 'bundler']

/** The same number for something that no fork changes. */
const others: Readonly<Record<string, readonly number[]>> = {
  // Prices before the table is looked at: `gasBudget` adds the difference by fork.
  'evm/machine/instructions.ts': [32_000],
  // Measured in EntryPoint v0.6, and above what any fork makes of it.
  'gas/highestPrice.ts': [25_000],
  'erc4337/forkGas.ts': [15_000],
  // Defaults of what an operator sets.
  'chain/definition/chainDefinition.ts': [16_777_216, 15_000, 20_000],
  // Bytes of a paymaster's context.
  'erc4337/rules/ruleLimits.ts': [65_536],
  // Milliseconds, and a share.
  'simulation/simulations.ts': [20_000],
  'chain/definition/tokenDefinition.ts': [20_000],
  'bundler/assemble/assembleBundle.ts': [20_000],
  // Entries of a memory.
  'chain/state/codeMemory.ts': [20_000],
}

/** Small and round numbers say too little: 64, 2,100, 3,000 and 9,000 are everywhere. */
function isTelling(number: number): boolean {
  return number >= 15_000 || (number > 2_500 && number % 1_000 !== 0)
}

/** The prices that differ between forks, and the sums of them that executors know by heart. */
function forkNumbers(): ReadonlySet<number> {
  const costs = forks.map((fork) => rulesByFork[fork].gas)
  const names = Object.keys(costs[0] as GasCosts) as (keyof GasCosts)[]
  const differing = names.filter((name) => new Set(costs.map((each) => each[name])).size > 1)
  const prices = differing.flatMap((name) => costs.map((each) => each[name]))
  const sums = [15_000, 22_100, 19_900, 110_020, 235_606, 52_006, 16_816]
  const caps = forks.map((fork) => rulesByFork[fork].executionGasCap)
  return new Set([...prices, ...sums, ...caps].filter(isTelling))
}

function literals(code: string): number[] {
  const bare = code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '')
  return [...bare.matchAll(/(?<![\w.-])\d[\d_]*(?=n?\b)/g)].map(([digits]) =>
    Number(digits.replaceAll('_', '')),
  )
}

test('no gas price that a fork changes stands outside of its tables', () => {
  const numbers = forkNumbers()
  expect(numbers.size).toBeGreaterThan(15)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => modules.includes(path.split(sep)[0]!))
    .filter((path) => !path.includes('generated') && !tables.includes(path))
  expect(files.length).toBeGreaterThan(250)
  const found = files.flatMap((path) =>
    literals(readFileSync(join(src, path), 'utf8'))
      .filter((number) => numbers.has(number) && !others[path]?.includes(number))
      .map((number) => `${path}: ${number}`),
  )
  expect(found).toEqual([])
})

test('finds a price where it stands', () => {
  expect(literals("const gas = 21_000n // 25,000\nconst text = '25000'")).toEqual([21_000])
})
