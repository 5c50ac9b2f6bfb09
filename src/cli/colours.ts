/** Colours only where a person looks: stdout may be a file or a pipe, also on a build machine that likes colours. */
import pc from 'picocolors';

export const colours = pc.createColors(pc.isColorSupported && process.stdout.isTTY === true);
