package sluice.codegen.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.codegen.text.Problems;

class LayoutParserTest {
    private final Problems problems = new Problems();

    private LayoutSpec parse(String text) {
        return LayoutParser.parse(LayoutFile.REGION, "region.abi", text.lines().toList(), problems);
    }

    /// Fields of a 64-byte record in the read-write part; the first of them stands in line 5.
    private List<String> problemsOfFields(String fields) {
        parse("layout 1\nmagic SLUICE\npage 4096\nrecord slot 64\n" + fields + "\nplace slot 4096 4\n");
        return problems.lines();
    }

    /// Places of a record that the library writes and one that the tools write; the first place stands in line 8.
    private List<String> problemsOfPlaces(String places) {
        parse("""
                layout 1
                magic SLUICE
                page 4096
                record slot 64
                  owner | u64 | library | atomic | who | -
                record limits 64
                  epoch | u64 | tools | atomic | when | -
                """ + places);
        return problems.lines();
    }

    @Test
    void shouldPlaceFieldsOneAfterTheOther() {
        var region = parse("""
                layout 2
                magic SLUICE
                page 4096
                record slot 128
                  owner | u64      | library | atomic | who  | -
                  name  | char[20] | library | owner  | text | -
                  index | i32      | library | owner  | GPU  | -
                # note
                place slot 4096 3
                """);

        assertThat(region.records().getFirst().fields()).extracting(LayoutSpec.Field::offset).containsExactly(0, 8, 28);
        assertThat(region.places().getFirst().note()).isEqualTo("note");
        assertThat(region.fileBytes()).isEqualTo(8192);
        assertThat(region.magicNumber()).isEqualTo(0x454349554c53L);
    }

    @Test
    void shouldReportMisalignedField() {
        assertThat(problemsOfFields("index | u32 | library | owner | GPU | -\nowner | u64 | library | atomic | who | -"))
                .containsExactly("region.abi:6: misaligned field 'owner': offset 4 is not a multiple of 8");
    }

    @Test
    void shouldReportFieldThatOverflowsItsRecord() {
        assertThat(problemsOfFields("name | char[65] | library | owner | text | -"))
                .containsExactly("region.abi:5: field 'name' ends at byte 65 of record 'slot', which has 64");
    }

    @Test
    void shouldReportUnknownWordsOfAField() {
        assertThat(problemsOfFields("""
                a | u8  | library | owner  | x | -
                b | u32 | nobody  | owner  | x | -
                c | u32 | library | quick  | x | -
                D | u32 | library | owner  | x | -
                e | u32 | library | owner  | x
                f | u32 | library | owner  | x | -""")).containsExactly(
                "region.abi:5: unknown type 'u8'; one of u16, u32, u64, i32, i64, char[N], u8[N], or an array of a number",
                "region.abi:6: unknown writer 'nobody'; one or more of creator, tools, library, or -",
                "region.abi:7: unknown order 'quick'; one of once, atomic, release, owner",
                "region.abi:8: bad name 'D'; small letters, digits and _ only",
                "region.abi:9: 5 columns instead of 6: field | type | written by | order | meaning | after a crash");
    }

    @Test
    void shouldKnowSeveralWritersOfAField() {
        assertThat(problemsOfFields("a | u64 | library, tools | atomic | x | -\nb | u64 | library, - | atomic | x | -"))
                .containsExactly("region.abi:6: unknown writer 'library, -'; one or more of creator, tools, library, or -");
    }

    @Test
    void shouldReportTextThatClaimsToBeAtomic() {
        assertThat(problemsOfFields("name | char[8] | library | atomic | text | -"))
                .containsExactly("region.abi:5: field 'name' of type char[8] cannot be atomic; only numbers can");
    }

    @Test
    void shouldReportDuplicateField() {
        assertThat(problemsOfFields("a | u32 | library | owner | x | -\na | u32 | library | owner | x | -"))
                .containsExactly("region.abi:6: duplicate field 'a' in record 'slot'");
    }

    @Test
    void shouldReportOverlappingPlaces() {
        assertThat(problemsOfPlaces("place slot 4096 4\nplace limits 4288 1"))
                .containsExactly("region.abi:9: place of 'limits' at 4288 overlaps 'slot', which ends at 4352");
    }

    @Test
    void shouldReportUnalignedPlace() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace slot 4104 4"))
                .containsExactly("region.abi:9: place of 'slot' is unaligned: offset 4104 is not a multiple of 64");
    }

    @Test
    void shouldReportLibraryFieldOnTheReadOnlyPage() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace slot 1024 1")).containsExactly("region.abi:9: 'slot' lies on page 0, "
                + "which the library maps read-only, but the library writes its field 'owner'");
    }

    @Test
    void shouldReportPlaceAcrossTheEndOfPageZero() {
        assertThat(problemsOfPlaces("place limits 4032 2\nplace slot 8192 1"))
                .containsExactly("region.abi:8: place of 'limits' crosses the end of page 0");
    }

    @Test
    void shouldReportUnknownAndUnplacedRecords() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace sloth 4096 1")).containsExactly(
                "region.abi:4: record 'slot' has no place in the file",
                "region.abi:9: unknown record 'sloth'");
    }

    @Test
    void shouldReportMalformedDirectives() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace slot 4096 1\nlayout one\nrecord x\nplace slot\npalce slot 1 1"))
                .containsExactly(
                        "region.abi:10: write: layout N",
                        "region.abi:11: write: record NAME SIZE",
                        "region.abi:12: write: place RECORD OFFSET COUNT, or that and since REVISION",
                        "region.abi:13: unknown directive 'palce'; one of layout, revision, magic, page, bytes, feature, value, record, place");
    }

    @Test
    void shouldLetNothingFollowAPlaceWithoutEnd() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace slot 4096 *")).isEmpty();
        assertThat(problemsOfPlaces("place slot 4096 *\nplace limits 8192 1"))
                .containsExactly("region.abi:9: place of 'limits' follows 'slot', which has no end");
    }

    @Test
    void shouldReportBadValues() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace slot 4096 1\nvalue a 1 x\nvalue a 2 y\nvalue b two z"))
                .containsExactly("region.abi:11: duplicate value 'a'", "region.abi:12: write: value NAME NUMBER MEANING");
    }

    @Test
    void shouldReportMissingLayout() {
        parse("magic SLUICE\npage 4096\n");

        assertThat(problems.lines()).containsExactly("region.abi:2: layout, magic and page must each be given once");
    }

    @Test
    void shouldPlaceLaterFieldsBehindEarlierOnes() {
        var region = parse("""
                layout 2
                revision 3
                magic SLUICE
                page 4096
                bytes 16384
                feature places 0 offered the file says where | its records lie
                feature turns 1 required takes turns
                record slot 64
                  owner         | u64 | library | atomic | who  | -
                  answer since 1| u64 | library | atomic | what | -
                place slot 4096 3
                """);

        assertThat(problems.lines()).isEmpty();
        assertThat(region.records().getFirst().fields()).extracting(LayoutSpec.Field::since).containsExactly(0, 1);
        assertThat(region.records().getFirst().leastBytes()).isEqualTo(8);
        assertThat(region.fileBytes()).isEqualTo(16384);
        assertThat(region.knownFeatures()).isEqualTo(3);
        assertThat(region.requiredFeatures()).isEqualTo(2);
        assertThat(region.featureNames()).isEqualTo("places turns");
    }

    @Test
    void shouldReportLaterFieldsOutOfOrder() {
        assertThat(problemsOfFields("a since 2 | u32 | library | owner | x | -\nb | u32 | library | owner | x | -")).containsExactly(
                "region.abi:5: field 'a' since 2: later ones follow earlier ones, and the revision is 0",
                "region.abi:6: field 'b' since 0: later ones follow earlier ones, and the revision is 0");
    }

    @Test
    void shouldReportBadFeaturesAndBytes() {
        assertThat(problemsOfPlaces("place limits 0 1\nplace slot 4096 1\nfeature a 1 offered x\nfeature b 2 maybe x\nbytes 5000")).containsExactly(
                "region.abi:10: feature 'a' has bit 1 instead of 0; bits follow each other and are never used again",
                "region.abi:11: write: feature NAME BIT offered MEANING, or required in the place of offered",
                "region.abi:12: bytes 5000: whole pages are needed, and 8192 at least");
    }
}
