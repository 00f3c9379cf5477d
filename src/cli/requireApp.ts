import { ConfigError } from '../base/errors/configError.js'
import type { Database } from '../db/database.js'
import { type App, findAnyApp, findApp } from '../tenants/apps.js'

/** The error of a command that names an account, app or key that does not live. */
export function unknownObject(what: string, id: string | undefined): ConfigError {
  return new ConfigError(`There is no active ${what} ${id}; see \`purser ${what} list\`.`)
}

/** The live app that --app names. Throws ConfigError. */
export async function requireApp(db: Database, id: string | undefined): Promise<App> {
  const app = await findApp(db, id ?? '')
  if (app === undefined) throw unknownObject('app', id)
  return app
}

/** The app that --app names, also an ended one: its money can still be looked at and withdrawn. Throws ConfigError. */
export async function requireAnyApp(db: Database, id: string): Promise<App> {
  const app = await findAnyApp(db, id)
  if (app === undefined) throw new ConfigError(`There is no app ${id}; see \`purser app list\`.`)
  return app
}
