import type { TestDatabase } from './database.js'

/** The database of a test as a URL for `DATABASE_URL`, or another one on its server. */
export function databaseUrlOf({ connection }: TestDatabase, name?: string): string {
  if (!('socketFolder' in connection)) throw new Error('The tests use a socket.')
  const { socketFolder, user, database } = connection
  return `postgresql:///${name ?? database}?host=${encodeURIComponent(socketFolder)}&user=${user}`
}
