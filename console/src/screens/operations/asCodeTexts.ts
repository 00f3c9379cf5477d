import { pathOf } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import type { Codes } from '../../parts/AsCode.js'
import type { ListName } from './views.js'

const commands = { operations: 'operation', refusals: 'refusal', decisions: 'decision' } as const

/** Flags of the commands for the filters that they know. */
const flags: Readonly<Record<string, string>> = {
  appId: '--app',
  chainId: '--chain',
  sender: '--sender',
  code: '--code',
  rule: '--rule',
  method: '--method',
}

/** A list by the API and by the command, as far as its flags go. */
export function listCode(list: ListName, query: Readonly<Record<string, string>>): Codes {
  const words = Object.entries(query).flatMap(([name, value]) =>
    flags[name] === undefined ? [] : [`${flags[name]} ${value}`],
  )
  return [
    ['curl', curl(pathOf(`/${list}`, query))],
    ['Command', ['purser', commands[list], 'list', ...words].join(' ')],
  ]
}

/** One operation by the API, by the command and by viem. */
export function operationCode(chainId: number, hash: string): Codes {
  return [
    ['curl', curl(`/operations/${chainId}/${hash}`)],
    ['Command', `purser operation show ${hash}`],
    [
      'viem',
      `import { http } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'

const bundler = createBundlerClient({ transport: http(process.env.BUNDLER_URL) })
console.log(await bundler.getUserOperationReceipt({ hash: '${hash}' }))`,
    ],
  ]
}

/** One refusal or decision by the API and by the command. */
export function recordCode(list: 'refusals' | 'decisions', id: string): Codes {
  return [
    ['curl', curl(`/${list}/${id}`)],
    ['Command', `purser ${commands[list]} show ${id}`],
  ]
}
