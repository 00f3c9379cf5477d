import { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/admin/routeTable.js'
import { addCommands } from '../../src/cli/addCommands.js'
import { funderKey } from '../../src/cli/devnet/devKeys.js'
import type { Database } from '../../src/db/database.js'
import { listAudit } from '../../src/tenants/audit.js'
import type { Route } from '../../src/tenants/route.js'
import { withBooks } from '../support/database/books.js'
import { fillTenant, type TenantObjects } from '../support/database/fillTenant.js'
import { storeUser } from '../support/database/storeUser.js'
import type { Json } from '../support/http/jsonRpc.js'
import { leastBody } from '../support/http/leastBody.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed } from '../support/service/devTokens.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/** The actions that `act` adds to the log, the oldest first. */
async function actionsOf(
  within: <Result>(run: (database: Database) => Promise<Result>) => Promise<Result>,
  act: () => Promise<unknown>,
) {
  const page = { limit: 100, before: undefined }
  const read = () => within((database) => listAudit(database, undefined, page))
  const before = (await read()).items[0]?.id ?? 0n
  await act()
  return (await read()).items.filter(({ id }) => id > before).reverse()
}

describe('the administration API', () => {
  const { admin, database, one, send } = useAdmin()

  /** Routes whose entry is not that of their method and of the kind of thing that their path names. */
  const otherActions: Readonly<Record<string, readonly string[]>> = {
    'POST /accounts/{accountId}/token': ['account.rotate_token'],
    'POST /apps/{appId}/abi': ['app.abi'],
    'POST /apps/{appId}/keys/{keyId}/rotate': ['key.rotate'],
    'POST /apps/{appId}/funds/{chainId}/credit': ['fund.credit'],
    'POST /apps/{appId}/webhooks/{webhookId}/secret': ['webhook.rotate_secret'],
    'POST /apps/{appId}/subscriptions/{subscriptionId}/secret': ['subscription.rotate_secret'],
    'POST /apps/{appId}/subscriptions/{subscriptionId}/replay': ['subscription.replay'],
    'POST /users': ['user.create', 'invitation.create'],
    'POST /users/{userId}/password': ['invitation.create'],
    'PATCH /settings/log-level': ['log_level.update'],
    'POST /settings/reload': ['settings.reload'],
    'POST /operations/{chainId}/{userOpHash}/cancel': ['operation.cancel'],
  }
  /** `key.create` of `POST /apps/{appId}/keys`, and what the entry then holds. */
  function entryOf({ method, path }: Route) {
    const verbs = { POST: 'create', PATCH: 'update', DELETE: '(delete|revoke|end)', GET: '' }
    const [, kind = ''] = /.*\/(?:auth-)?(\w+)s(?:\/\{|$)/.exec(path) ?? /\/(\w+)/.exec(path) ?? []
    const singular = path.endsWith('/quotas') ? 'app' : kind.replace(/ie$/, 'y')
    return { kind: singular, verb: verbs[method] }
  }
  /**
   * Routes that need a password, an invitation, or the link of a start: `test/admin/answers.test.ts`, `signInLink.test.ts`
   * and `test/attacks/signIn.test.ts` show that they write.
   */
  const withPassword = /^\/(session|session\/(link|invitation)|password|invitations\/accept)$/
  /** Routes that ask somebody else and change nothing here. */
  const asking = /\/(test|simulate|check|try)$/

  const changes = routes
    .filter(({ method, path }) => method !== 'GET' && !asking.test(path))
    .filter(({ method, path }) => method === 'DELETE' || !withPassword.test(path))
    .map((route) => [`${route.method} ${route.path}`, route] as const)
    // The account ends with its last test.
    .sort(([a], [b]) => Number(a.startsWith('DELETE /acc')) - Number(b.startsWith('DELETE /acc')))

  test.each(changes)('%s is in the log, with who asked', async (name, route) => {
    const { method, path, who } = route
    const appToken = one().token
    const made = await admin('POST', '/apps', appToken, { name: 'walked' })
    const ids: TenantObjects = await fillTenant(database(), { ...one(), appId: made.body.id })
    const isUsers = who === 'user'
    const user = await storeUser(database(), {})
    const token = who === 'operator' ? operatorToken : appToken
    const headers = isUsers ? user.headers : { authToken: token }
    // The account's token is needed by the tests that follow.
    const accountId =
      path === '/accounts/{accountId}/token'
        ? (await admin('POST', '/accounts', operatorToken, { name: 'x' })).body.account.id
        : one().accountId
    const own = { ...ids, accountId, ...(isUsers && { sessionId: user.sessionId }) }
    const target = path.replace(/\{(\w+)\}/g, (_, id: string) => own[id as keyof typeof own] ?? '')
    let answer: Json
    const entries = await actionsOf(
      (run) => run(database()),
      async () => {
        const { status, body } = await send(method, target, headers, leastBody(route))
        expect({ body, status }).toMatchObject({ status: route.status })
        answer = body
      },
    )
    const actions = entries.map(({ action }) => action)
    const [entry] = entries
    const { kind, verb } = entryOf(route)
    const expected = otherActions[name]
    if (expected !== undefined) expect(actions).toEqual(expected)
    else {
      expect(actions).toEqual([expect.stringMatching(new RegExp(`^${kind}\\.${verb}$`))])
      const holds = { before: entry?.before !== null, after: entry?.after !== null }
      if (method === 'POST') expect(holds).toEqual({ before: false, after: true })
      if (method === 'PATCH') expect(holds).toEqual({ before: true, after: true })
      if (method === 'DELETE') expect(holds.after).toBe(false)
    }
    const logged = JSON.stringify(entries.map(({ before, after }) => [before, after]))
    for (const secret of ['authToken', 'apiKey', 'signingSecret', 'token'])
      if (typeof answer[secret] === 'string') expect(logged).not.toContain(answer[secret])
    expect(entry).toMatchObject({
      actor: isUsers ? 'user' : token === operatorToken ? 'operator' : 'account',
      ip: '127.0.0.1',
      actor_id: isUsers ? user.userId : expect.stringMatching(/^[0-9a-f]{12}$/),
    })
  })
})

describe('commands and the older interfaces', () => {
  const purser = useRunningPurser()
  const commands = () => commandsOn(purser().dataFolder, { OWNER: funderKey })
  const books = <Result>(run: (database: Database) => Promise<Result>) =>
    withBooks(purser().dataFolder, run)
  const ids: Record<string, string> = {}
  const onChain = () => ['--app', ids.app!, '--chain', '31337']
  const on = () => [...onChain(), '--entry-point', '0.6']

  test('what a development start makes is in the log', async () => {
    const { items } = await books((database) =>
      listAudit(database, undefined, { limit: 100, before: undefined }),
    )
    const actions = items.map(({ action }) => action)
    for (const action of ['account.create', 'app.create', 'key.create'])
      expect(actions).toContain(action)
  })

  /** Commands that change something: their words, and what the log then holds, in an order in which they work. */
  const steps: readonly (readonly [
    command: string,
    words: () => readonly string[] | Promise<readonly string[]>,
    actions: readonly string[],
    keep?: (answer: string) => void | Promise<void>,
  ])[] = [
    [
      'account create',
      () => ['--name', 'audited'],
      ['account.create'],
      (answer) => {
        ids.account = labelled(answer, 'account')
        ids.token = labelled(answer, 'authToken')
      },
    ],
    [
      'app create',
      () => ['--account', ids.account!, '--name', 'audited'],
      ['app.create'],
      (answer) => {
        ids.app = labelled(answer, 'app')
      },
    ],
    [
      'user create',
      () => ['--email', 'ann@example.com', '--operator'],
      ['user.create', 'invitation.create'],
    ],
    ['user password', () => ['ann@example.com'], ['invitation.create']],
    [
      'user invite',
      () => ['--email', 'bob@example.com', '--account', ids.account!, '--role', 'viewer'],
      ['invitation.create'],
    ],
    [
      'key create',
      () => ['--app', ids.app!, '--name', 'audited'],
      ['key.create'],
      (answer) => {
        ids.apiKey = labelled(answer, 'apiKey')
      },
    ],
    ['tank create', on, ['tank.create', 'tank.deploy', 'tank.deploy.done']],
    ['tank deposit', () => [...on(), '--amount', '1'], ['tank.deposit', 'tank.deposit.done']],
    [
      'tank withdraw',
      () => [...on(), '--amount', '0.5', '--key', 'env:OWNER'],
      ['tank.withdraw', 'tank.withdraw.done'],
    ],
    ['tank mode', () => [...onChain(), '--mode', 'shared'], ['fund.update']],
    ['tank credit', () => [...onChain(), '--amount', '1', '--reference', 'x'], ['fund.credit']],
    ['tank alert', () => [...onChain(), '--below', '0.1'], ['fund.update']],
    ['token withdraw', tokenWithdrawal, ['token.withdraw', 'token.withdraw.done']],
    ['operation cancel', waitingOperation, ['operation.cancel'], () => mineAgain()],
    [
      'webhook create',
      () => ['--app', ids.app!, '--url', 'https://dapp.example/'],
      ['webhook.create'],
    ],
    ['keys adopt', () => [], ['keys.adopt']],
    // Its holder renews it at once.
    ['lease release', () => ['bundler 31337'], ['lease.release']],
    ['app revoke', () => [ids.app!], ['app.revoke']],
    ['account revoke', () => [ids.account!], ['account.revoke']],
  ]

  /** Commands that change nothing that the log is about. A migration is recorded in `kysely_migration`. */
  const others = [
    ...[
      'auth-token list',
      'key list',
      'tank show',
      'tank unbooked',
      'token list',
      'webhook secret',
      'policy check',
    ],
    ...['audit verify', 'explain', 'keys new', 'keys check'],
    ...['dev', 'serve', 'migrate', 'backup create', 'storage', 'check', 'rehearse', 'lease list'],
    // It works on a chain alone and opens no database.
    'contracts deploy',
    // Shown by test/operator/masterKey.test.ts: it needs a lost key.
    'tank replace',
    // It fills an empty database, with the log of the one that was backed up: test/lifecycle/backupCommands.test.ts.
    'backup restore',
    // Shown by test/operator/people.test.ts: the last operator stays, and a new key ends what uses the old one.
    'user disable',
    'keys rewrap',
  ]

  test('every command is known as one that changes, or that does not', async () => {
    const all = new Command()
    await addCommands(all, [])
    const names: string[] = []
    for (const { name } of all.commands.map((each) => ({ name: each.name() }))) {
      const program = new Command()
      await addCommands(program, [name])
      const command = program.commands.find((each) => each.name() === name)
      const inner = command?.commands ?? []
      // Those with --json are routes of the administration: what each writes is shown above.
      const own = inner.filter(({ options }) => !options.some(({ long }) => long === '--json'))
      names.push(...(inner.length > 0 ? own.map((each) => `${name} ${each.name()}`) : [name]))
    }
    const ofRoutes = ['account create', 'app create', 'key create', 'user invite', 'webhook create']
    const ofFunds = ['tank mode', 'tank credit', 'tank alert']
    const ends = ['app revoke', 'account revoke']
    expect([...names, ...ofRoutes, ...ofFunds, ...ends].sort()).toEqual(
      [...steps.map(([name]) => name), ...others].sort(),
    )
  })

  test('each command that changes something is in the log as a command of this user', async () => {
    for (const [command, words, actions, keep] of steps) {
      const args = [...command.split(' '), ...(await words())]
      let [answer, complaint] = ['', '']
      const entries = await actionsOf(books, async () => {
        const { stdout, stderr } = await commands().run(...args)
        answer = stdout
        complaint = stderr
      })
      expect({ command, actions: entries.map(({ action }) => action) }, complaint).toEqual({
        command,
        actions,
      })
      for (const entry of entries) expect(entry.actor).toBe('command')
      await keep?.(answer)
    }
    expect(await commands().answer('audit', 'verify')).toContain('intact')
  }, 600_000)

  test('a deposit names amount, payer, transaction, app and account', async () => {
    const { items } = await books((database) =>
      listAudit(database, ids.account, { limit: 100, before: undefined }),
    )
    const deposit = items.find(({ action }) => action === 'tank.deposit.done')
    expect(deposit).toMatchObject({ app_id: ids.app, account_id: ids.account })
    expect(deposit?.after).toMatchObject({
      wei: '1000000000000000000',
      chainId: 31_337,
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
  })

  describe('the webhook interface', () => {
    let headers: Record<string, string> = {}
    beforeAll(() => {
      const { authToken, apiKey } = purser().info
      headers = { authToken, apiKey, 'content-type': 'application/json' }
    })
    const send = async (method: string, path: string, body?: Json) => {
      const response = await fetch(`${purser().info.url}/api/v2/public/sdk/${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      expect(response.status).toBe(200)
      return (await response.json()) as Json
    }

    test('writes each change of a webhook', async () => {
      const made = { webhookUrl: 'http://127.0.0.1/', requestType: 'POST' }
      let webhookId = ''
      const steps: readonly [string, () => Json, string][] = [
        ['POST', () => made, 'webhook.create'],
        ['PATCH', () => ({ webhookId, active: false }), 'webhook.update'],
        ['DELETE', () => ({ webhookId }), 'webhook.delete'],
      ]
      for (const [method, body, action] of steps) {
        const entries = await actionsOf(books, async () => {
          webhookId = (await send(method, 'webhook', body())).data?.webhookId ?? webhookId
        })
        expect(entries.map((entry) => entry.action)).toEqual([action])
      }
    })
  })

  /** The words of a withdrawal from the development app's token tank, which was given tokens. */
  async function tokenWithdrawal(): Promise<string[]> {
    const { info } = purser()
    const token = tokenNamed(info, 'tUSD')
    await giveTokens(info, token, info.tokenTanks['0.6']!, 5_000_000n)
    const app = await books((database) =>
      database
        .selectFrom('apps')
        .select('id')
        .where('name', '=', 'development')
        .executeTakeFirstOrThrow(),
    )
    const where = ['--app', app.id, '--chain', '31337', '--entry-point', '0.6']
    return [...where, '--token', 'tUSD', '--amount', '1']
  }

  /** The words that cancel an operation that waits, because nobody mines. */
  async function waitingOperation(): Promise<string[]> {
    const { info } = purser()
    const account = await devAccount(info, 'audited')
    const op = await account.selfPaid()
    await account.tester.setAutomine(false)
    return [await account.send(op), '--chain', String(info.chainId)]
  }

  async function mineAgain(): Promise<void> {
    const { tester } = await devAccount(purser().info, 'audited')
    await tester.setAutomine(true)
    await tester.mine({ blocks: 1 })
  }
})
