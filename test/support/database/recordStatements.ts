import type { KyselyPlugin } from 'kysely'
import type { Database } from '../../../src/db/database.js'

/** The database, and the statements that go through it, in their order, as far as their texts are fixed. */
export function recordStatements(database: Database) {
  const statements: string[] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const isRaw = node.kind === 'RawNode'
      statements.push(isRaw ? node.sqlFragments.join('?').replace(/\s+/g, ' ') : node.kind)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { recorded: database.withPlugin(plugin) as Database, statements }
}
