import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chainSchema, toChainDefinition } from '../../src/chain/definition/chainDefinition.js'
import { limitProfiles } from '../../src/erc4337/rules/index.js'
import { cases } from './cases.js'

/** Rules that other tests through JSON-RPC raise, with their file. */
const raisedElsewhere: Readonly<Record<string, string>> = {
  'AUTH-040': 'test/compliance/reputation.test.ts',
  'COD-010': 'test/compliance/reputation.test.ts',
  'EREP-055': 'test/compliance/reputation.test.ts',
  'GREP-010': 'test/compliance/reputation.test.ts',
  'GREP-020': 'test/compliance/reputation.test.ts',
  'STO-040': 'test/compliance/reputation.test.ts',
  'UREP-010': 'test/compliance/reputation.test.ts',
  'UREP-020': 'test/compliance/reputation.test.ts',
}

/**
 * Rules that the service cannot raise, by the facts that keep it from that. LIM-030 asks for a slack between the gas of validation
 * and its limit: the service applies the lenient limits, whose slack is 0, and no validation uses more than its limit, as the
 * EntryPoint fails first (AA23, AA26, AA33, AA36, AA40). LIM-060 is a maximum of validation gas: what every chain
 * allows is less, and is refused before with the name of the field (-32602).
 */
const { verificationGasSlack, maxVerificationGas } = limitProfiles.lenient
const chain = toChainDefinition(
  chainSchema.parse({ chainId: 1, rpcUrls: ['http://127.0.0.1:1'], executorKeys: [] }),
  () => '0x',
)
const unraisable = {
  'LIM-030': verificationGasSlack === 0n,
  'LIM-060': chain.maxVerificationGas < maxVerificationGas,
}

/** The rules that code names as a value, which it can answer with. */
function declaredRules(): readonly string[] {
  const files = ['src/erc4337/rules', 'src/mempool', 'src/simulation'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')),
  )
  const ids = files.flatMap((text) => text.match(/'[A-Z]+-\d{3}'/g) ?? [])
  return [...new Set(ids.map((id) => id.slice(1, -1)))].sort()
}

test('every rule that the source can answer with is raised through JSON-RPC', () => {
  const declared = declaredRules()
  expect(declared.length).toBeGreaterThan(25)
  for (const [rule, file] of Object.entries(raisedElsewhere))
    expect(readFileSync(file, 'utf8'), file).toContain(rule)
  const raised = new Set([
    ...cases.flatMap(({ breaks }) => breaks ?? []),
    ...Object.keys(raisedElsewhere),
  ])
  expect(declared.filter((rule) => !raised.has(rule))).toEqual(Object.keys(unraisable))
  expect(Object.values(unraisable)).toEqual([true, true])
})
