import type { Database, Transaction } from '../database.js'

/** A person as an identity provider names one. */
export type Identity = { readonly issuer: string; readonly subject: string }

/** The id of the user whom the provider's name stands for; undefined = nobody's yet. */
export async function findUserOf(
  db: Database,
  { issuer, subject }: Identity,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('user_identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.user_id
}

/** Ties the provider's name to a user, once. @returns false when the name or the user is tied otherwise */
export async function insertIdentity(
  trx: Transaction,
  { issuer, subject }: Identity,
  userId: string,
): Promise<boolean> {
  const row = await trx
    .insertInto('user_identities')
    .values({ issuer, subject, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}
