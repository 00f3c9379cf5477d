import type { Config } from './options.js'

/** The https address of the administration; undefined = users sign in on this machine only. */
export function adminUrlOf({
  adminUrl,
  publicUrl,
}: Pick<Config, 'adminUrl' | 'publicUrl'>): string | undefined {
  return adminUrl ?? (publicUrl?.startsWith('https:') ? publicUrl : undefined)
}
