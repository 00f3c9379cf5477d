import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { variableOf } from '../../src/config/options.js'

const UNIT = 'deploy/systemd/purser.service'
/** Tenths: systemd calls a service below 20 well protected. */
const MOST_EXPOSED = 15

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasSystemd)(
  'systemd takes the unit and calls it well protected (skipped where systemd-analyze is not installed)',
  () => {
    // The program is where the operator installs it, not on this machine: systemd looks for the file.
    const { stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' })
    const complaints = stderr.split('\n').filter((line) => line.includes('purser.service'))
    expect(
      complaints.filter((line) => !/\/node is not executable|\/usr\/bin\/node/.test(line)),
    ).toEqual([])
    const security = ['security', '--offline=yes', `--threshold=${MOST_EXPOSED}`, UNIT]
    const answer = execFileSync('systemd-analyze', security, { encoding: 'utf8' })
    expect(answer).toMatch(/Overall exposure level for purser\.service: 1\.\d OK/)
  },
)

test('the unit names variables that exist, and gives each secret to the service as a file', () => {
  const text = readFileSync(UNIT, 'utf8')
  const variables = [...text.matchAll(/^Environment=(PURSER_\w+?)(?:_FILE)?=/gm)].map(
    ([, name]) => name,
  )
  const known = (['data', 'databaseUrl', 'masterKey', 'operatorToken'] as const).map(variableOf)
  expect(variables.sort()).toEqual(known.sort())
  const loaded = [...text.matchAll(/^LoadCredential=(\w+):/gm)].map(([, name]) => name)
  for (const [, name] of text.matchAll(/^Environment=\w+_FILE=%d\/(\w+)$/gm))
    expect(loaded).toContain(name)
})
