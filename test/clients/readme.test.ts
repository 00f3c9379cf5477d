import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { nodeClient } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()

test("README's example for viem runs as it stands", async () => {
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? []
  const { dataFolder, info } = purser()
  const program = example!.replace('.purser/dev.json', `${dataFolder}/dev.json`)
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const [success, hash] = (await run).stdout.trim().split(' ')
  expect(success).toBe('true')
  const receipt = await nodeClient(info).getTransactionReceipt({ hash: hash as `0x${string}` })
  expect(receipt.to).toBe(info.entryPoints['0.8'])
  expect(receipt.type).toBe('eip7702')
})
