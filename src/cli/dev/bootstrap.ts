import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Address } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { parseEther } from 'viem/utils'
import type { Database } from '../../db/database.js'
import { localSigner } from '../../chain/signing/localSigner.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import type { Version } from '../../erc4337/entryPoint.js'
import type { TankKind } from '../../paymaster/ledger/tanks.js'
import type { Tanks } from '../../paymaster/tanks.js'
import { createAccount } from '../../tenants/accounts.js'
import { createTenantApp, findApp } from '../../tenants/apps.js'
import { audited } from '../../tenants/audit.js'
import { createAuthenticator } from '../../tenants/authenticate.js'
import { createKey } from '../../tenants/keys.js'
import { addMember } from '../../tenants/people/members.js'
import { createUser, findUserByEmail } from '../../tenants/people/users.js'
import { commandActor } from '../commandActor.js'
import type { DevInfo } from '../devInfo.js'
import { devKey, funderKey } from '../devnet/devKeys.js'

type Credentials = Pick<DevInfo, 'authToken' | 'apiKey'> & { readonly appId: string }

const FILE = 'dev.json'
/** The name of the account, the app and the key. */
const NAME = 'development'
/** wei; the tank is filled up to it when it holds less than half. */
const tankDeposit = parseEther('100')

/** The account, app and keys of the development setup: those of the last start, else new ones. */
export async function devCredentials(database: Database, dataFolder: string): Promise<Credentials> {
  const file = join(dataFolder, FILE)
  if (existsSync(file)) {
    const { authToken, apiKey } = JSON.parse(readFileSync(file, 'utf8')) as DevInfo
    const { authenticateKey, authenticateToken } = createAuthenticator(database)
    const owner = await authenticateKey(apiKey)
    if (owner && (await authenticateToken(authToken))?.accountId === owner.accountId)
      return { authToken, apiKey, appId: owner.appId }
  }
  return audited(database, commandActor(), async (change) => {
    const { account, authToken } = await createAccount(change, NAME)
    const app = await createTenantApp(change, account.id, NAME)
    const shown = app && (await createKey(change, app.id, { name: NAME }))
    if (shown === undefined) throw new Error('The development account was revoked while starting.')
    return { authToken, apiKey: shown.apiKey, appId: shown.key.appId }
  })
}

/** The developer of a development setup, who signs in by links. */
const DEVELOPER = 'developer@localhost'

/** The user who develops: admin of the account of that app, and operator of the instance. */
export async function devUser(database: Database, appId: string): Promise<string> {
  const app = await findApp(database, appId)
  if (app === undefined) throw new Error('The development app was revoked while starting.')
  return audited(database, commandActor(), async (change) => {
    const settings = { email: DEVELOPER, name: 'Developer', isOperator: true, passwordHash: null }
    const known = await findUserByEmail(change.trx, DEVELOPER)
    const { id } = known ?? (await createUser(change, settings))
    await addMember(change, app.accountId, id, 'admin')
    return id
  })
}

/** A funded tank of the app and of that kind for every EntryPoint; their transactions share blocks. */
export async function fundDevTanks(
  tanks: Tanks,
  appId: string,
  entryPoints: DevInfo['entryPoints'],
  kind: TankKind,
): Promise<DevInfo['tanks']> {
  const funder = localSigner(funderKey)
  const fund = async ([version, address]: [string, Address]): Promise<[string, Address]> => {
    const entryPoint = createEntryPoint(version as Version, address)
    const tank = await tanks.ensure(appId, entryPoint, privateKeyToAddress(devKey(0)), kind)
    const state = await tanks.show(appId, entryPoint, kind)
    const deposit = state?.deposit ?? 0n
    const isLow = deposit < tankDeposit / 2n
    await Promise.all([
      tanks.deploy(tank, entryPoint, funder),
      isLow ? tanks.deposit(tank, tankDeposit - deposit, funder) : undefined,
    ])
    return [version, tank.address]
  }
  return Object.fromEntries(await Promise.all(Object.entries(entryPoints).map(fund)))
}

/** Readable by its owner only: it holds the keys. Complete or absent, never half written. */
export function writeDevInfo(dataFolder: string, info: DevInfo): void {
  const file = join(dataFolder, FILE)
  writeFileSync(`${file}.new`, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
